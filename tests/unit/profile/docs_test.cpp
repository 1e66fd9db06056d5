// docs/profile.md and docs/profile.schema.json are generated: stale ones fail here; SSKJ_ACCEPT=1 rewrites them and reports SKIPPED.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "sskj/profile/schema.hpp"

namespace sskj::profile {
namespace {

const std::string k_docs = std::string(SSKJ_SOURCE_DIR) + "/docs/";

void golden(const std::string& name, const std::string& text) {
  if (const char* accept = std::getenv("SSKJ_ACCEPT"); accept != nullptr && std::string(accept) == "1") {
    std::ofstream(k_docs + name, std::ios::binary) << text;
    GTEST_SKIP() << "rewrote docs/" << name;
  }
  std::ifstream in(k_docs + name, std::ios::binary);
  const std::string have(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(have == text) << "docs/" << name << " is stale: run the profile tests with SSKJ_ACCEPT=1 and commit the file";
}

TEST(Docs, Profile_markdown_is_current) { golden("profile.md", profile_markdown()); }
TEST(Docs, Profile_schema_is_current) { golden("profile.schema.json", profile_json_schema()); }

TEST(Docs, Every_row_has_a_sentence_and_an_example_or_a_reason_not_to) {
  for (const Row& row : schema()) {
    EXPECT_FALSE(row.doc.empty()) << row.path;
    EXPECT_TRUE(row.doc.ends_with('.')) << row.path;
    EXPECT_FALSE(describe(row).empty()) << row.path;
    EXPECT_NE(to_string(row.type), "?") << row.path;
    if (row.type != Type::variants && row.type != Type::sha256) {
      EXPECT_FALSE(row.example.empty()) << row.path;
    }
  }
}

TEST(Docs, Paths_and_env_keys_are_unique) {
  std::set<std::string_view> paths, keys;
  for (const Row& row : schema()) {
    EXPECT_TRUE(paths.insert(row.path).second) << row.path;
    EXPECT_TRUE(row.env_key.empty() || keys.insert(row.env_key).second) << row.env_key;
  }
}

TEST(Docs, Json_schema_names_every_yaml_key) {
  const std::string text = profile_json_schema();
  ASSERT_TRUE(nlohmann::json::accept(text));
  for (const Row& row : schema()) {
    const std::string last(row.path.substr(row.path.rfind('.') + 1));
    EXPECT_NE(text.find("\"" + last + "\""), std::string::npos) << row.path;
  }
}

}  // namespace
}  // namespace sskj::profile
