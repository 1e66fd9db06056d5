#include "sskj/app/request.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sskj/app/verbs.hpp"

namespace sskj::app {
namespace {

using Env = std::map<std::string, std::string>;

ParsedRequest parse(std::vector<std::string> argv, const Env& env = {}) {
  return parse_request(argv, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = env.find(name);
    return found == env.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

TEST(Request, Start_with_a_profile) {
  const auto parsed = parse({"start", "--profile", "kimi3_tp32ep32", "--dry-run", "-o", "json", "--timeout", "15m", "--set", "PORT=30001", "--set", "A=b=c"});
  ASSERT_TRUE(parsed.request) << parsed.error->message;
  EXPECT_EQ(parsed.request->verb, "start");
  EXPECT_EQ(parsed.request->profile, "kimi3_tp32ep32");
  EXPECT_TRUE(parsed.request->dry_run);
  EXPECT_EQ(parsed.request->output, Output::json);
  EXPECT_EQ(parsed.request->timeout, std::chrono::minutes(15));
  ASSERT_EQ(parsed.request->set.size(), 2U);
  EXPECT_EQ(parsed.request->set[1].value, "b=c");
}

TEST(Request, Flag_beats_environment_beats_default) {
  EXPECT_EQ(parse({"status", "-p", "a"}, {{"SSKJ_PROFILE", "b"}}).request->profile, "a");
  EXPECT_EQ(parse({"status"}, {{"SSKJ_PROFILE", "b"}}).request->profile, "b");
  EXPECT_EQ(parse({"status", "-p", "a"}, {{"SSKJ_FANOUT", "7"}}).request->fanout, 7U);
  EXPECT_EQ(parse({"status", "-p", "a"}).request->fanout, 64U);
  EXPECT_TRUE(parse({"status", "-p", "a"}, {{"SSKJ_DRY_RUN", "1"}}).request->dry_run);
  EXPECT_FALSE(parse({"status", "-p", "a"}, {{"SSKJ_DRY_RUN", "0"}}).request->dry_run);
  EXPECT_TRUE(parse({"start", "-p", "a"}, {{"DRY_RUN", "1"}}).request->dry_run);
  EXPECT_EQ(parse({"status", "-p", "a"}, {{"SSKJ_OUTPUT", "json"}}).request->output, Output::json);
}

TEST(Request, Environment_values_are_checked_as_flags_are) {
  for (const Env& env : {Env{{"SSKJ_FANOUT", "0"}}, Env{{"SSKJ_FANOUT", "x"}}, Env{{"SSKJ_COLOR", "pink"}}, Env{{"SSKJ_DIRECT", "maybe"}}, Env{{"SSKJ_TIMEOUT", "0"}}}) {
    const auto parsed = parse({"status", "-p", "a"}, env);
    ASSERT_TRUE(parsed.error) << env.begin()->first;
    EXPECT_EQ(parsed.error->code, Errc::usage);
  }
}

TEST(Request, What_is_wrong_is_a_usage_error_with_a_hint) {
  const std::vector<std::vector<std::string>> bad{{},
                                                  {"strat", "-p", "x"},
                                                  {"start"},
                                                  {"start", "-p", "x", "--nonsense"},
                                                  {"start", "-p", "x", "--timeout", "0"},
                                                  {"start", "-p", "x", "--timeout", "15"},
                                                  {"start", "-p", "x", "-l", "a"},
                                                  {"start", "-p", "x", "--set", "=b"},
                                                  {"start", "-p", "x", "-f", "0"},
                                                  {"status", "-p", "x", "--ensure"},
                                                  {"stop", "--force", "-l", "a"},
                                                  {"stop", "-p", "x", "--name", "y"},
                                                  {"logs", "-p", "x", "--rank", "-1"},
                                                  {"logs", "-p", "x", "--tail", "0"},
                                                  {"exec", "-l", "a"},
                                                  {"status", "-p", "x", "-q", "-v"},
                                                  {"profile"},
                                                  {"attach"},
                                                  {"attach", "a", "b"},
                                                  {"status", "-p", "x", "--detach"},
                                                  {"history", "x"},
                                                  {"profile", "lint"}};
  for (const auto& argv : bad) {
    const auto parsed = parse(argv);
    ASSERT_TRUE(parsed.error) << (argv.empty() ? "(nothing)" : argv.front());
    EXPECT_EQ(parsed.error->code, Errc::usage);
    EXPECT_FALSE(parsed.request);
    EXPECT_FALSE(parsed.error->message.empty());
  }
  EXPECT_NE(parse({"strat"}).error->hint.find("sskj start"), std::string::npos);
}

TEST(Request, Errors_come_out_in_the_requested_form) {
  EXPECT_EQ(parse({"start", "--json", "--nonsense"}).output, Output::json);
  EXPECT_EQ(parse({"strat", "-o", "ndjson"}).output, Output::ndjson);
  EXPECT_EQ(parse({"exec", "-l", "a", "--", "echo", "--json"}).output, Output::text);
}

TEST(Request, The_command_of_exec_keeps_its_own_flags) {
  const auto plain = parse({"exec", "-l", "a", "ls", "-l", "--json", "-p", "x"});
  ASSERT_TRUE(plain.request) << plain.error->message;
  EXPECT_EQ(plain.request->words, (std::vector<std::string>{"ls", "-l", "--json", "-p", "x"}));
  EXPECT_EQ(plain.request->limit, "a");
  const auto dashed = parse({"exec", "--limit", "a", "--", "true", "--", "x"});
  ASSERT_TRUE(dashed.request) << dashed.error->message;
  EXPECT_EQ(dashed.request->words, (std::vector<std::string>{"true", "--", "x"}));
}

TEST(Request, Detach_and_what_a_detached_process_is_told) {
  const auto parent = parse({"start", "-p", "a b", "--detach"});
  ASSERT_TRUE(parent.request) << parent.error->message;
  EXPECT_TRUE(parent.request->detach);
  EXPECT_EQ(parent.request->detached_run, "");
  EXPECT_EQ(parent.request->command_line, "sskj start -p 'a b' --detach");
  const auto child = parse({"start", "--detached-run=/runs/x", "-p", "a b", "--detach"});
  ASSERT_TRUE(child.request) << child.error->message;
  EXPECT_EQ(child.request->detached_run, "/runs/x");
  EXPECT_EQ(child.request->command_line, parent.request->command_line) << "the command to go on with is the one that was typed";
  EXPECT_EQ(child.request->argv, parent.request->argv);
  EXPECT_TRUE(parse({"stop", "-p", "a"}, {{"SSKJ_DETACH", "1"}}).request->detach);
  EXPECT_EQ(parse({"start", "-p", "a"}, {{"SSKJ_DETACHED_RUN", "/runs/x"}}).request->detached_run, "") << "no variable makes a process a child";
  EXPECT_EQ(parse({"start", "--help"}).help->text.find("detached-run"), std::string::npos);
}

TEST(Request, Two_word_verbs_and_help) {
  EXPECT_EQ(parse({"profile", "lint", "a.env", "b.env"}).request->words.size(), 2U);
  EXPECT_EQ(parse({"--version"}).request->verb, "version");
  for (const Verb& verb : verbs()) {
    std::vector<std::string> argv;
    const std::string name(verb.name);
    const std::size_t blank = name.find(' ');
    argv.push_back(name.substr(0, blank));
    if (blank != std::string::npos) argv.push_back(name.substr(blank + 1));
    argv.emplace_back("--help");
    const auto parsed = parse(argv);
    ASSERT_TRUE(parsed.help) << name;
    EXPECT_NE(parsed.help->text.find(verb.title), std::string::npos) << name;
  }
}

TEST(Request, Help_of_a_verb_is_its_own_help_flag) {
  EXPECT_EQ(parse({"help"}).help.value().text, parse({"--help"}).help.value().text);
  for (const Verb& verb : verbs()) {
    std::vector<std::string> words;
    const std::string name(verb.name);
    const std::size_t blank = name.find(' ');
    words.push_back(name.substr(0, blank));
    if (blank != std::string::npos) words.push_back(name.substr(blank + 1));
    std::vector<std::string> helped{"help"};
    helped.insert(helped.end(), words.begin(), words.end());
    words.emplace_back("--help");
    ASSERT_TRUE(parse(helped).help) << name;
    EXPECT_EQ(parse(helped).help->text, parse(words).help->text);
  }
  EXPECT_EQ(parse({"help", "profile"}).help.value().text, parse({"profile", "--help"}).help.value().text);
  const auto unknown = parse({"help", "strat"});
  ASSERT_TRUE(unknown.error);
  EXPECT_NE(unknown.error->hint.find("sskj help start"), std::string::npos) << unknown.error->hint;
  EXPECT_TRUE(parse({"help", "profile", "nonsense"}).error);
  EXPECT_NE(parse({"hepl"}).error->hint.find("sskj help"), std::string::npos);
}

}  // namespace
}  // namespace sskj::app
