#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "sskj/core/sha256.hpp"
#include "sskj/profile/embedded.hpp"
#include "sskj/profile/lookup.hpp"

namespace sskj::profile {
namespace {

using ::testing::HasSubstr;

class Tree {
 public:
  using Map = std::map<std::string, std::string>;
  explicit Tree(Map files) : files_(std::move(files)) {}
  Files functions() const {
    return {[this](const std::string& path) -> Result<std::string> {
              const auto it = files_.find(path);
              return it == files_.end() ? Result<std::string>(fail(Errc::profile, "no " + path)) : it->second;
            },
            [this](const std::string& directory) {
              std::vector<std::string> out;
              for (const auto& [path, text] : files_) {
                if (path.rfind(directory + "/", 0) == 0) {
                  out.push_back(path.substr(directory.size() + 1));
                }
              }
              return out;
            }};
  }

 private:
  Map files_;
};

Places places() { return {"flag", "env1:env2", "profiles", "/home/u/.config/sskj/profiles", true}; }

TEST(Lookup, A_path_is_taken_as_it_is) {
  const Tree tree(Tree::Map{{"some/where/x.env", "A"}, {"./y.yaml", "B"}});
  EXPECT_EQ(find_profile("some/where/x.env", places(), tree.functions())->text, "A");
  EXPECT_EQ(find_profile("./y", places(), tree.functions())->file, "./y.yaml");
  EXPECT_EQ(find_profile("./nothing", places(), tree.functions()).error().code, Errc::profile);
}

TEST(Lookup, Earlier_places_win_and_yaml_before_env) {
  const Tree tree(Tree::Map{{"env2/a.env", "env2"}, {"profiles/a.yaml", "p"}, {"profiles/a.env", "pe"}, {"flag/b.yml", "f"}, {"profiles/b.yaml", "p"}});
  const auto a = find_profile("a", places(), tree.functions());
  ASSERT_TRUE(a.has_value());
  EXPECT_EQ(a->text, "env2");
  EXPECT_EQ(a->origin, "$SSKJ_PROFILES");
  EXPECT_EQ(find_profile("b", places(), tree.functions())->origin, "--profiles-dir");
  Places only_working;
  EXPECT_EQ(find_profile("a", only_working, tree.functions())->file, "profiles/a.yaml");
}

TEST(Lookup, Names_with_a_slash_and_the_embedded_set) {
  const Tree tree(Tree::Map{});
  const auto found = find_profile("pro6000/kimi3_pro6000_sglang_tp32ep32", Places{}, tree.functions());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->file, "embedded:profiles/pro6000/kimi3_pro6000_sglang_tp32ep32.env");
  EXPECT_EQ(found->origin, "embedded");
}

TEST(Lookup, Not_found_says_where_it_looked_and_what_is_near) {
  const Tree tree(Tree::Map{{"profiles/team/my_profile.env", ""}});
  const auto a = find_profile("kimi3_tp32ep23", places(), tree.functions());
  ASSERT_FALSE(a.has_value());
  EXPECT_EQ(a.error().code, Errc::profile);
  for (const char* place : {"flag (--profiles-dir)", "env1 ($SSKJ_PROFILES)", "env2", "profiles (./profiles)", "the binary"}) {
    EXPECT_THAT(a.error().message, HasSubstr(place));
  }
  EXPECT_EQ(a.error().hint, "did you mean kimi3_tp32ep32?");
  EXPECT_EQ(find_profile("my_profle", places(), tree.functions()).error().hint, "did you mean team/my_profile?");
}

TEST(Lookup, The_short_name_resolves_inside_the_binary) {
  const Tree tree(Tree::Map{});
  const auto found = find_profile("kimi3_tp32ep32", Places{}, tree.functions());
  ASSERT_TRUE(found.has_value());
  ParseOptions options;
  options.file = found->file;
  options.read = make_reader(Places{}, tree.functions());
  const Parsed parsed = parse(found->text, options);
  ASSERT_TRUE(parsed.diagnostics.empty()) << parsed.diagnostics[0].message;
  EXPECT_EQ(parsed.profile.name, "kimi3_pro6000_sglang_tp32ep32");
  EXPECT_EQ(parsed.profile.file, "embedded:profiles/pro6000/kimi3_pro6000_sglang_tp32ep32.env");
}

TEST(Lookup, A_reference_is_found_in_the_places) {
  const Tree tree(Tree::Map{{"env2/base.yaml", "groups: {server: {port: 7}}"}});
  ParseOptions options;
  options.file = "elsewhere/x.yaml";
  options.read = make_reader(places(), tree.functions());
  const Parsed parsed = parse("extends: base\n", options);
  ASSERT_TRUE(parsed.diagnostics.empty());
  EXPECT_EQ(parsed.profile.groups.at(0).api_port, 7);
}

TEST(Lookup, List_shows_all_with_origin_and_shadowing) {
  const Tree tree(Tree::Map{{"profiles/kimi3_tp32ep32.env", ""}, {"flag/x.yaml", ""}, {"flag/README.md", ""}});
  const auto listed = list_profiles(places(), tree.functions());
  ASSERT_GE(listed.size(), 4U);
  EXPECT_EQ(listed[0].name, "x");
  EXPECT_EQ(listed[1].name, "kimi3_tp32ep32");
  EXPECT_FALSE(listed[1].shadowed);
  int shadowed = 0;
  for (const Listed& item : listed) {
    shadowed += item.shadowed ? 1 : 0;
  }
  EXPECT_EQ(shadowed, 1);
}

TEST(Embedded, Holds_profiles_and_patches_byte_for_byte) {
  const EmbeddedFile* patch = find_embedded("patches/pro6000/kimi_k3/patch_k3_sm120.py");
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(patch->bytes.substr(0, 2), "#!");
  EXPECT_EQ(patch->bytes.back(), '\n');
  EXPECT_EQ(find_embedded("nothing"), nullptr);
}

TEST(Artifact, Places_by_source) {
  const auto place = [](const char* source, const char* base) {
    ArtifactSetting a;
    a.source = source;
    a.base_dir = base;
    return artifact_place(a);
  };
  EXPECT_EQ(place("file:x.py", "dir").path, "dir/x.py");
  EXPECT_EQ(place("file:/abs/x.py", "dir").path, "/abs/x.py");
  EXPECT_EQ(place("file:x.py", "").path, "x.py");
  EXPECT_EQ(place("file:x.py", "embedded:profiles/pro").path, "profiles/pro/x.py");
  EXPECT_EQ(place("file:x.py", "embedded:profiles/pro").kind, ArtifactPlace::Kind::embedded);
  EXPECT_EQ(place("embedded:patches/x.py", "dir").path, "patches/x.py");
  EXPECT_EQ(place("node:/data/x.whl", "").path, "/data/x.whl");
  EXPECT_EQ(place("node:10.0.0.1:/data/x.whl", "").node, "10.0.0.1");
  EXPECT_EQ(place("node:[::1]:/data/x.whl", "").path, "/data/x.whl");
}

TEST(Artifact, Bytes_of_what_is_not_there_are_an_error) {
  const Tree tree(Tree::Map{{"dir/x.py", "bytes"}});
  ArtifactSetting a;
  a.source = "file:x.py";
  a.base_dir = "dir";
  EXPECT_EQ(artifact_bytes(a, tree.functions()).value(), "bytes");
  a.source = "file:y.py";
  EXPECT_FALSE(artifact_bytes(a, tree.functions()).has_value());
  a.source = "embedded:nothing";
  EXPECT_FALSE(artifact_bytes(a, tree.functions()).has_value());
  a.source = "node:/x";
  EXPECT_FALSE(artifact_bytes(a, tree.functions()).has_value());
}

}  // namespace
}  // namespace sskj::profile
