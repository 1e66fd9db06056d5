// What is wrong with a --set is said with the flag and the nearest key, not with the profile.
#include <gtest/gtest.h>

#include "loaded.hpp"
#include "sskj/app/request.hpp"

namespace sskj::app {
namespace {

ParsedRequest parse_set(std::vector<std::string> argv) {
  return parse_request(argv, [](const std::string&) { return std::nullopt; });
}

Diagnostics errors_of(const std::string& set) {
  const auto parsed = parse_set({"status", "-p", "lab_smoke", "--set", set});
  EXPECT_TRUE(parsed.request) << set;
  profile::ParseOptions options;
  options.file = "test.env";
  options.overrides = parsed.request->set;
  Diagnostics found = profile::parse("NODES=n[1-2]\nIMAGE=img:1\nMODEL_PATH=/m\nSERVED_MODEL=m\n", options).diagnostics;
  std::erase_if(found, [](const Diagnostic& one) { return one.severity != Severity::error; });
  return found;
}

TEST(SetFlag, Without_a_value_names_the_nearest_key) {
  EXPECT_EQ(parse_set({"status", "-p", "x", "--set", "PROT"}).error->hint, "write --set PORT=VALUE");
  EXPECT_EQ(parse_set({"status", "-p", "x", "--set", "port"}).error->hint, "write --set PORT=VALUE");
  EXPECT_NE(parse_set({"status", "-p", "x", "--set", "=5"}).error->hint.find("--set PORT=30001"), std::string::npos);
}

TEST(SetFlag, An_unknown_key_points_at_the_flag_and_the_nearest_key) {
  struct Case {
    std::string set, at, hint;
  };
  for (const Case& one : std::vector<Case>{{"PROT=30001", "--set PROT", "did you mean --set PORT=...?"},
                                           {"launch_arg=x", "--set launch_arg", "did you mean --set LAUNCH_ARGS=...?"},
                                           {"NODE_1_HOTS=x", "--set NODE_1_HOTS", "did you mean --set NODE_1_HOST=...?"},
                                           {"groups.server.prot=1", "--set groups.server.prot", "did you mean --set groups.server.port=...?"},
                                           {"groups.servr.port=1", "--set groups.servr.port", "its groups: server; did you mean --set groups.server.port=...?"},
                                           {"NOTHING_LIKE_IT=1", "--set NOTHING_LIKE_IT", "a variable for the container is written --set ENV_NOTHING_LIKE_IT=...; docs/profile.md has all keys"},
                                           {"PORT=zwölf", "--set PORT", "correct --set PORT=..."}}) {
    const Diagnostics found = errors_of(one.set);
    ASSERT_EQ(found.size(), 1U) << one.set;
    EXPECT_EQ(found[0].at.file, one.at);
    EXPECT_EQ(found[0].hint, one.hint) << one.set;
  }
  EXPECT_NE(errors_of("PORT=x")[0].message.find("PORT: \"x\" is not"), std::string::npos) << "the key as it was typed";
}

TEST(SetFlag, The_last_word_does_not_send_the_user_to_the_profile) {
  const Error flags = invalid_profile("kimi", errors_of("PROT=1"));
  EXPECT_NE(flags.hint.find("--set"), std::string::npos) << flags.hint;
  EXPECT_EQ(flags.message, "1 flag does not fit profile 'kimi'");
  Diagnostics both = errors_of("PROT=1");
  both.push_back({Severity::error, "x", "m", "", SourceRef{"kimi.env", 3, 1}, ""});
  EXPECT_NE(invalid_profile("kimi", both).hint.find("profile lint"), std::string::npos);
}

}  // namespace
}  // namespace sskj::app
