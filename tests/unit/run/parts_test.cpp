// The small parts of the executor, each on its own.
#include <gmock/gmock.h>

#include <chrono>

#include "capture.hpp"
#include "ledger.hpp"
#include "lines.hpp"
#include "outcome.hpp"
#include "replay_filter.hpp"
#include "secrets.hpp"
#include "sskj/run/journal.hpp"

namespace sskj::run {
namespace {

using testing::ElementsAre;

TEST(Capture, Equals_the_whole_up_to_its_limit_and_head_plus_tail_beyond) {
  std::string all;
  for (int i = 0; i < 200; ++i) all += static_cast<char>('a' + i % 26);
  for (const std::size_t chunk : {1U, 3U, 7U, 50U, 200U}) {
    for (std::size_t size = 0; size <= all.size(); size += 5) {
      Capture capture(40);
      for (std::size_t at = 0; at < size; at += chunk) capture.add(std::string_view(all).substr(at, std::min(chunk, size - at)));
      const std::string expected = size <= 40 ? all.substr(0, size) : all.substr(0, 20) + all.substr(size - 20, 20);
      ASSERT_EQ(capture.text(), expected) << chunk << " " << size;
      ASSERT_EQ(capture.dropped(), size <= 40 ? 0 : size - 40);
    }
  }
}

std::vector<std::string> lines_of(std::initializer_list<std::string_view> chunks) {
  std::vector<std::string> lines;
  LineSplitter splitter;
  const auto keep = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (const auto chunk : chunks) splitter.feed(chunk, keep);
  splitter.finish(keep);
  return lines;
}

TEST(LineSplitter, Splits_on_newline_and_return_over_chunk_borders) {
  EXPECT_THAT(lines_of({"a\nb", "c\r", "\nd\r\re", "", "f"}), ElementsAre("a", "bc", "d", "ef"));
}

TEST(LineSplitter, Bounds_a_line) {
  const std::string endless(100'000, 'x');
  const auto lines = lines_of({endless, endless, "\nnext\n"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].size(), k_max_line);
  EXPECT_EQ(lines[1], "next");
}

TEST(StripAnsi, Removes_colours_cursor_moves_titles_and_unfinished_sequences) {
  EXPECT_EQ(strip_ansi("\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b(B\x1b[2K!\x1b[3"), "red xlinkB!");
  EXPECT_EQ(strip_ansi("plain"), "plain");
  EXPECT_EQ(strip_ansi("\x1b"), "");
}

TEST(ReplayFilter, Passes_on_exactly_what_was_not_seen_wherever_the_connection_broke) {
  std::string log;
  for (int i = 0; i < 100; ++i) log += "line " + std::to_string(i) + "\n";
  for (std::size_t cut = 0; cut <= log.size(); cut += 13) {
    for (const std::size_t chunk : {1U, 64U, 1000U}) {
      ReplayFilter filter;
      std::string seen = filter.feed(std::string_view(log).substr(0, cut));
      filter.restart();
      seen += filter.feed(std::string_view(log).substr(0, std::min<std::size_t>(cut / 2, 40)));  // broken again in mid-replay
      filter.restart();
      for (std::size_t at = 0; at < log.size(); at += chunk) seen += filter.feed(std::string_view(log).substr(at, chunk));
      ASSERT_EQ(seen, log) << "cut at " << cut << ", chunks of " << chunk;
      ASSERT_FALSE(filter.took_new_start());
    }
  }
}

TEST(ReplayFilter, Output_that_begins_differently_is_new) {
  ReplayFilter filter;
  EXPECT_EQ(filter.feed("first\nunfinis"), "first\nunfinis");
  filter.restart();
  EXPECT_EQ(filter.feed("second\n"), "second\n");
  EXPECT_TRUE(filter.took_new_start());
  EXPECT_FALSE(filter.took_new_start());
}

TEST(TakeAnswer, Finds_the_last_line_only) {
  for (const auto& [text, answer, rest] : std::vector<std::tuple<std::string, std::optional<StepStatus>, std::string>>{
           {"sskj: changed\n", StepStatus::changed, ""},
           {"a\nsskj: unchanged", StepStatus::unchanged, "a\n"},
           {"a\nsskj: unchanged\r\n\n", StepStatus::unchanged, "a\n"},
           {"sskj: changed\na\n", std::nullopt, "sskj: changed\na\n"},
           {"xsskj: changed\n", std::nullopt, "xsskj: changed\n"},
           {"", std::nullopt, ""}}) {
    std::string out = text;
    EXPECT_EQ(take_answer(out), answer) << text;
    EXPECT_EQ(out, rest);
  }
}

TEST(LastLines, Prefer_stderr_and_are_bounded_and_printable) {
  EXPECT_THAT(last_lines("out\n", " \n"), ElementsAre("out"));
  EXPECT_THAT(last_lines("out\n", "a\n\n\x1b[0mb\xff\n"), ElementsAre("a", "\\x1b[0mb\xEF\xBF\xBD"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::to_string(i) + std::string(1000, '.') + "\n";
  const auto lines = last_lines(many, "");
  ASSERT_EQ(lines.size(), 20U);
  EXPECT_EQ(lines.back().substr(0, 4), "999.");
  EXPECT_LE(lines.back().size(), 400U);
}

plan::Plan with_nodes(std::initializer_list<const char*> ids) {
  plan::Plan plan;
  for (const char* id : ids) plan.nodes.push_back({id, {}, ""});
  return plan;
}

TEST(Ledger, The_first_trouble_of_a_node_decides_its_class) {
  Ledger ledger(with_nodes({"a", "b", "c", "d"}));
  ledger.step("a", StepStatus::ok, true);
  ledger.step("a", StepStatus::lost, true);
  ledger.step("a", StepStatus::not_run, true);
  ledger.step("b", StepStatus::failed, false);
  ledger.step("c", StepStatus::cancelled, true);
  ledger.step("c", StepStatus::ok, true);
  ledger.step("unknown node", StepStatus::ok, true);
  const auto& hosts = ledger.hosts().hosts;
  EXPECT_EQ(hosts.size(), 4U);
  EXPECT_EQ(hosts.at("a"), HostClass::lost);
  EXPECT_EQ(hosts.at("b"), HostClass::ok);
  EXPECT_EQ(hosts.at("c"), HostClass::skipped);
  EXPECT_EQ(hosts.at("d"), HostClass::skipped);
}

TEST(Secrets, Replace_longer_values_first_and_leave_short_ones) {
  std::map<std::string, std::string> values{{"a", "token"}, {"b", "token-long"}, {"c", "x"}};
  Secrets secrets([&values](const plan::SecretRef& ref) -> Result<std::string> { return values.at(ref.ref); });
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(secrets.value({name}));
  EXPECT_EQ(secrets.redact("x token-long token!"), "x [secret] [secret]!");
  EXPECT_EQ(render_secret("{secret}:{secret}", "v{secret}"), "v{secret}:v{secret}");
}

TEST(Secrets, Without_a_reader_it_is_a_fault_of_ours) {
  Secrets secrets(nullptr);
  const auto value = secrets.value({"from_env:X"});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Errc::internal);
}

TEST(MaskApiKeys, Masks_every_spelling_that_engines_print) {
  for (const auto& [line, masked] : std::vector<std::pair<std::string, std::string>>{
           {"ServerArgs(host='0.0.0.0', api_key='sk-1', admin_api_key=\"sk-2\", tp=8)", "ServerArgs(host='0.0.0.0', api_key='[secret]', admin_api_key=\"[secret]\", tp=8)"},
           {R"({"api_key": "sk-\"1", "x": 1})", R"({"api_key": "[secret]", "x": 1})"},
           {"Namespace(api_key=sk-1, b=2)", "Namespace(api_key=[secret], b=2)"},
           {"api-key: 'sk-1'", "api-key: '[secret]'"},
           {"launch --api-key sk-1 --port 1", "launch --api-key [secret] --port 1"},
           {"launch --api-key=sk-1", "launch --api-key=[secret]"},
           {"['--api-key', 'sk-1', '--port', '1']", "['--api-key', '[secret]', '--port', '1']"},
           {"OPENAI_API_KEY=sk-1 run", "OPENAI_API_KEY=[secret] run"},
           {"> Authorization: Bearer sk-1\r", "> Authorization: Bearer [secret]\r"},
           {"{'authorization': 'bearer sk-1', 'a': 'b'}", "{'authorization': 'bearer [secret]', 'a': 'b'}"},
           {"(b'authorization', b'Bearer sk-1')", "(b'authorization', b'Bearer [secret]')"},
           {"api_key='unfinished\nnext='x'", "api_key='[secret]\nnext='x'"}}) {
    EXPECT_EQ(mask_api_keys(line), masked);
    EXPECT_EQ(mask_api_keys(masked), masked) << "twice";
  }
}

TEST(MaskApiKeys, Leaves_what_is_no_key) {
  for (const std::string line : {"api_key=None, x", "api_key=''", "the api_key is wrong", "set api_key", "--api-key", "--api-key --port 1", "Authorization: Basic", "bearer of news", "api keys: 3", ""}) {
    EXPECT_EQ(mask_api_keys(line), line);
  }
}

TEST(MaskApiKeys, Takes_linear_time) {
  std::string hostile;
  for (int i = 0; i < 200'000; ++i) hostile += "api_key=";
  const auto begun = std::chrono::steady_clock::now();
  mask_api_keys(hostile);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST(Redactor, Masks_what_arrives_in_pieces) {
  Secrets secrets([](const plan::SecretRef&) -> Result<std::string> { return std::string("hunter2-long-value"); });
  ASSERT_TRUE(secrets.value({"from_env:X"}));
  const std::string log = "first\nserver_args key hunter2-long-value, api_key='sk-other' end\rprogress 1\rprogress 2\nlast hunter2-long-value";
  const std::string want = "first\nserver_args key [secret], api_key='[secret]' end\rprogress 1\rprogress 2\nlast [secret]";
  for (std::size_t size = 1; size <= log.size(); ++size) {
    Redactor redactor(secrets, true);
    std::string got;
    for (std::size_t at = 0; at < log.size(); at += size) got += redactor.feed(std::string_view(log).substr(at, size));
    got += redactor.finish();
    ASSERT_EQ(got, want) << size;
  }
}

TEST(Redactor, Bounds_a_line_without_end_and_still_masks_over_its_borders) {
  Secrets secrets([](const plan::SecretRef&) -> Result<std::string> { return std::string("hunter2-long-value"); });
  ASSERT_TRUE(secrets.value({"from_env:X"}));
  for (const std::size_t piece : {97U, 4096U, 70'000U}) {
    Redactor redactor(secrets, true);
    std::string log;
    while (log.size() < 400'000) log += std::string(1000 + log.size() % 77, 'x') + "hunter2-long-value" + " --api-key sk-other ";
    std::string got;
    for (std::size_t at = 0; at < log.size(); at += piece) got += redactor.feed(std::string_view(log).substr(at, piece));
    EXPECT_GT(got.size(), 200'000U) << "nothing waits for a line end that never comes";
    got += redactor.finish();
    EXPECT_EQ(got.find("hunter2"), std::string::npos) << piece;
    EXPECT_EQ(got.find("sk-other"), std::string::npos) << piece;
    EXPECT_NE(got.find("[secret]"), std::string::npos);
  }
}

TEST(Redactor, With_nothing_to_mask_passes_every_piece_at_once) {
  const Secrets secrets(nullptr);
  Redactor redactor(secrets, false);
  EXPECT_EQ(redactor.feed("Password: "), "Password: ");
  EXPECT_EQ(redactor.finish(), "");
}

TEST(JournalFileName, Cannot_leave_its_directory) {
  EXPECT_EQ(journal_file_name("start.run.10.0.0.1"), "start.run.10.0.0.1");
  EXPECT_EQ(journal_file_name("../../etc/passwd"), "%2E.%2F..%2Fetc%2Fpasswd");
  EXPECT_EQ(journal_file_name(".."), "%2E.");
  EXPECT_EQ(journal_file_name(""), "%");
  EXPECT_EQ(journal_file_name("root@n 1"), "root%40n%201");
  EXPECT_LE(journal_file_name(std::string(5000, '/')).size(), 200U);
  EXPECT_NE(journal_file_name(std::string(5000, 'a') + "1"), journal_file_name(std::string(5000, 'a') + "2"));
}

}  // namespace
}  // namespace sskj::run
