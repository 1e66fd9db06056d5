#include <gtest/gtest.h>

#include <variant>

#include "keys.hpp"
#include "leaf.hpp"
#include "sskj/profile/profile.hpp"
#include "sskj/profile/schema.hpp"

namespace sskj::profile {
namespace {

template <class T>
const T& object() {
  static const T k_default;
  return k_default;
}

// What a freshly made profile holds, in the form that read_leaf gives.
std::optional<Leaf> member_default(const Field& field) {
  return std::visit(
      [](auto pointer) -> std::optional<Leaf> {
        if constexpr (std::is_same_v<decltype(pointer), std::monostate>) {
          return std::nullopt;
        } else {
          const auto read = []<class C, class M>(M C::* p) { return object<C>().*p; };
          const auto value = read(pointer);
          using M = std::remove_cv_t<decltype(value)>;
          if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
            return Leaf(static_cast<std::uint64_t>(value));
          } else {
            return Leaf(value);
          }
        }
      },
      field);
}

bool equal(const Leaf& a, const Leaf& b) {
  if (a.index() != b.index()) {
    return false;
  }
  if (const auto* text = std::get_if<std::string>(&a)) {
    return *text == std::get<std::string>(b);
  }
  if (const auto* number = std::get_if<std::uint64_t>(&a)) {
    return *number == std::get<std::uint64_t>(b);
  }
  if (const auto* flag = std::get_if<bool>(&a)) {
    return *flag == std::get<bool>(b);
  }
  if (const auto* time = std::get_if<std::chrono::milliseconds>(&a)) {
    return *time == std::get<std::chrono::milliseconds>(b);
  }
  return false;
}

TEST(Schema, Default_texts_say_what_the_struct_holds) {
  for (const Row& row : schema()) {
    if (row.default_text.empty() || row.path == "groups.*.role") {
      continue;  // a group's role is its name
    }
    Diagnostics diagnostics;
    Origins where;
    const auto read = read_leaf(row, scalar(std::string(row.default_text), {}), std::string(row.path), diagnostics, where);
    ASSERT_TRUE(read.has_value()) << row.path;
    const auto member = member_default(row.field);
    ASSERT_TRUE(member.has_value()) << row.path;
    EXPECT_TRUE(equal(*read, *member)) << row.path << " has default_text " << row.default_text;
  }
}

TEST(Schema, Every_example_is_accepted) {
  for (const Row& row : schema()) {
    if (row.example.empty() || row.env_key.empty()) {
      continue;
    }
    std::string text;
    if (row.type == Type::env || row.scope == Scope::artifact) {
      text = std::string(row.example);
    } else {
      std::string key(row.env_key);
      if (const std::size_t hash = key.find('#'); hash != std::string::npos) {
        key.replace(hash, 1, "0");
      }
      text = key + "='" + std::string(row.example) + "'";
    }
    ParseOptions options;
    options.file = "example.env";
    options.read = [](const std::string& path) -> Result<std::string> {
      return path.ends_with(".env") ? Result<std::string>("PORT=1\n") : fail(Errc::profile, "no such file");
    };
    std::string prefix = row.scope == Scope::node && row.env_key != "NODE_#_HOST" ? "NODES=a,b,c\n" : "";
    const Parsed parsed = parse(prefix + text + "\n", options);
    EXPECT_TRUE(parsed.diagnostics.empty()) << row.path << ": " << (parsed.diagnostics.empty() ? "" : parsed.diagnostics[0].message) << "\n" << text;
  }
}

TEST(Schema, Env_keys_and_paths_find_their_row) {
  const auto node = match_env_key("NODE_12_ENV_NCCL_DEBUG");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(path_of(*node, "server"), "groups.server.nodes.12.env.NCCL_DEBUG");
  EXPECT_EQ(path_of(*match_env_key("ENV_X"), "g"), "groups.g.env.X");
  EXPECT_EQ(path_of(*match_env_key("ARTIFACT_a"), "g"), "artifacts.a.source");
  EXPECT_FALSE(match_env_key("ENV_").has_value());
  EXPECT_FALSE(match_env_key("NODE_x_HOST").has_value());
  EXPECT_FALSE(match_env_key("NODE_99999_HOST").has_value());
  for (const Row& row : schema()) {
    std::string path(row.path);
    for (std::size_t at = path.find('*'); at != std::string::npos; at = path.find('*')) {
      path.replace(at, 1, "0");
    }
    EXPECT_EQ(find_row(path), &row) << path;
  }
}

}  // namespace
}  // namespace sskj::profile
