#include "sskj/ssh/bootstrap.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "outcome.hpp"
#include "sskj/net/process.hpp"

namespace sskj::ssh {
namespace {


const std::string k_key = "\x1esskj:0123456789abcdef";

struct Decoded {
  std::string out, err, noise;
  std::optional<int> status;
  bool started = false;
};

/// Both streams in pieces of `step` bytes.
Decoded decode(const std::string& out, const std::string& err, std::size_t step) {
  Decoded decoded;
  Decoder decoder(k_key);
  const auto emit = [&](run::Stream stream, std::string_view bytes) { (stream == run::Stream::out ? decoded.out : decoded.err).append(bytes); };
  for (std::size_t at = 0; at < std::max(out.size(), err.size()); at += step) {
    if (at < out.size()) {
      decoder.feed(run::Stream::out, std::string_view(out).substr(at, step), emit);
    }
    if (at < err.size()) {
      decoder.feed(run::Stream::err, std::string_view(err).substr(at, step), emit);
    }
  }
  decoder.finish(emit);
  decoded.noise = decoder.noise();
  decoded.status = decoder.status();
  decoded.started = decoder.started();
  return decoded;
}

class DecoderSteps : public ::testing::TestWithParam<std::size_t> {};

TEST_P(DecoderSteps, Marks_and_trailer_are_taken_out) {
  const auto decoded = decode(k_key + "(out\n", k_key + "(err\n" + k_key + "42)", GetParam());
  EXPECT_EQ(decoded.out, "out\n");
  EXPECT_EQ(decoded.err, "err\n");
  EXPECT_EQ(decoded.status, 42);
}

TEST_P(DecoderSteps, What_comes_before_the_mark_is_noise) {
  const auto decoded = decode("Welcome!\n" + k_key + "(", k_key + "(" + k_key + "0)", GetParam());
  EXPECT_EQ(decoded.out + decoded.err, "");
  EXPECT_NE(decoded.noise.find("Welcome!"), std::string::npos);
  EXPECT_EQ(decoded.status, 0);
}

TEST_P(DecoderSteps, No_trailer_means_no_status_and_loses_no_output) {
  const auto decoded = decode(k_key + "(abc", k_key + "(tail \x1esskj:0123", GetParam());
  EXPECT_EQ(decoded.out, "abc");
  EXPECT_EQ(decoded.err, "tail \x1esskj:0123");
  EXPECT_FALSE(decoded.status.has_value());
  EXPECT_TRUE(decoded.started);
}

TEST_P(DecoderSteps, Key_without_a_whole_trailer_is_output) {
  const auto decoded = decode("", k_key + "(" + k_key + "x " + k_key + "1234) " + k_key + "7)", GetParam());
  EXPECT_EQ(decoded.err, k_key + "x " + k_key + "1234) ");
  EXPECT_EQ(decoded.status, 7);
}

TEST_P(DecoderSteps, Output_after_the_trailer_belongs_to_no_one) {
  const auto decoded = decode(k_key + "(", k_key + "(" + k_key + "0)Terminated\n", GetParam());
  EXPECT_EQ(decoded.err, "");
  EXPECT_EQ(decoded.status, 0);
}

INSTANTIATE_TEST_SUITE_P(Pieces, DecoderSteps, ::testing::Values(1, 2, 5, 23, 1000));

TEST(DecoderTest, Noise_is_bounded) { EXPECT_LE(decode(std::string(100'000, 'n'), std::string(100'000, 'm'), 777).noise.size(), 4096U); }

TEST(DecoderTest, Nothing_started_without_a_mark) {
  const auto decoded = decode("This account is currently not available.\n", "", 10);
  EXPECT_FALSE(decoded.started);
  EXPECT_EQ(decoded.out, "");
}

std::string all(Feed& feed, std::size_t step) {
  std::string bytes;
  while (!feed.peek().empty()) {
    const auto piece = feed.peek().substr(0, step);
    bytes.append(piece);
    feed.consume(piece.size());
  }
  return bytes;
}

TEST(FeedTest, Sends_lengths_variables_script_and_input_in_order) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
    Feed feed("K", "script", "input", {"run", "plan", "since"});
    EXPECT_EQ(all(feed, step), "K\n6 5\nrun\nplan\nsince\nscriptinputK\n");
  }
  Feed without("K", "script", "", {"run", "plan", "since"});
  EXPECT_EQ(all(without, 3), "K\n6 0\nrun\nplan\nsince\nscript") << "no input: no closing key";
}

TEST(FeedTest, Variables_cannot_add_lines) {
  Feed feed("K", "s", "", {"a\nb\r", "p\x1e", ""});
  EXPECT_EQ(all(feed, 100), "K\n1 0\nab\np\n\ns");
}

TEST(FeedTest, Pieces_stay_where_they_are_until_consumed) {
  Feed feed("K", "script", "", {});
  const auto* before = feed.peek().data();
  EXPECT_EQ(feed.peek().data(), before);
}

TEST(BootstrapText, Parses_alike_in_every_login_shell) {
  const std::string_view text = bootstrap_script();
  EXPECT_EQ(text.find_first_of("'\\\n\r"), std::string_view::npos) << "no quote, backslash or line break";
  EXPECT_EQ(bootstrap_command(false), "exec sh -c '" + std::string(text) + "'");
  EXPECT_EQ(bootstrap_command(true), "exec sudo -n -- sh -c '" + std::string(text) + "'");
  EXPECT_LT(text.size(), 1024U) << "old csh takes no longer word";
}

TEST(KeyTest, Is_new_each_time) {
  const auto key = new_key();
  EXPECT_EQ(key.size(), k_key.size());
  EXPECT_EQ(key.compare(0, 6, "\x1esskj:"), 0);
  EXPECT_NE(key, new_key());
}

// The text itself, through shells. -----------------------------------------------------------------------------------------------------------------

class BootstrapShells : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (net::find_program(GetParam(), "/usr/bin:/bin").empty()) {
      GTEST_SKIP() << "needs " << GetParam() << ": apt-get install " << GetParam();
    }
  }
  struct Ended {
    Decoded text;
    net::ExitStatus status;
  };
  /// SHELL -c COMMAND, as sshd runs it; stdin stays open, or is cut after `cut` bytes.
  Ended run(const std::string& script, const std::string& input = {}, std::optional<std::size_t> cut = std::nullopt) {
    net::Loop loop;
    Feed feed(k_key, script, input, {"r", "p", "s"});
    std::string bytes = all(feed, 1U << 20).substr(0, cut.value_or(std::string::npos));
    std::size_t sent = 0;
    Ended ended;
    Decoder decoder(k_key);
    const auto emit = [&](run::Stream stream, std::string_view piece) { (stream == run::Stream::out ? ended.text.out : ended.text.err).append(piece); };
    net::ProcessSpec spec;
    spec.argv = {GetParam(), "-c", bootstrap_command(false)};
    spec.stdin_pipe = spec.new_session = true;
    std::unique_ptr<net::Process> process;
    const auto write = [&] {
      sent += process->write(std::string_view(bytes).substr(sent));
      if (sent == bytes.size() && cut) {
        process->close_stdin();
      }
    };
    net::ProcessHandlers handlers;
    handlers.output = [&](int stream, std::string_view piece) { decoder.feed(stream == 1 ? run::Stream::out : run::Stream::err, piece, emit); };
    handlers.writable = write;
    handlers.exited = [&](net::ExitStatus status) {
      ended.status = status;
      loop.stop();
    };
    process = std::move(*net::Process::spawn(loop, spec, std::move(handlers)));
    write();
    loop.run();
    decoder.finish(emit);
    ended.text.status = decoder.status();
    ended.text.started = decoder.started();
    return ended;
  }
};

TEST_P(BootstrapShells, Exit_status_streams_and_variables) {
  const auto ended = run("echo \"$SSKJ_RUN $SSKJ_PLAN $SSKJ_SINCE\"; echo e >&2; exit 42");
  EXPECT_EQ(ended.text.out, "r p s\n");
  EXPECT_EQ(ended.text.err, "e\n");
  EXPECT_EQ(ended.text.status, 42);
  EXPECT_EQ(ended.status.code, 42);
}

TEST_P(BootstrapShells, Script_that_kills_itself_gives_137) { EXPECT_EQ(run("kill -9 $$").text.status, 137); }

TEST_P(BootstrapShells, Input_is_exact_and_ends) {
  const std::string input = std::string("a\0b\n\x1e'\"\\", 9) + std::string(200'000, 'z');
  const auto ended = run("cat", input);
  EXPECT_EQ(ended.text.out, input);
  EXPECT_EQ(ended.text.status, 0);
}

TEST_P(BootstrapShells, Closed_channel_stops_the_script_without_a_trailer) {
  const std::string script = "echo on; sleep 1000; echo never";
  Feed feed(k_key, script, "", {"r", "p", "s"});
  const auto ended = run(script, {}, all(feed, 100).size());
  EXPECT_TRUE(ended.text.started);
  EXPECT_FALSE(ended.text.status.has_value());
  EXPECT_NE(ended.status.signal, 0);
}

TEST_P(BootstrapShells, Channel_cut_in_the_input_gives_the_script_no_end_of_it) {
  const auto ended = run("cat >/dev/null; echo finished", std::string(10'000, 'i'), 5000);
  EXPECT_EQ(ended.text.out, "");
  EXPECT_FALSE(ended.text.status.has_value());
}

TEST_P(BootstrapShells, Header_cut_short_runs_nothing) {
  const auto ended = run("echo never", {}, 20);
  EXPECT_FALSE(ended.text.started);
  EXPECT_EQ(ended.text.out, "");
  EXPECT_EQ(ended.status.code, 97);
}

INSTANTIATE_TEST_SUITE_P(Shells, BootstrapShells, ::testing::Values("sh", "bash", "dash", "zsh", "fish", "tcsh"), [](const auto& shell) { return shell.param; });

// Ends without a trailer ---------------------------------------------------------------------------------------------------------------------------

TEST(NoTrailerTest, Lost_unless_the_shell_failed_before_the_mark) {
  Decoder fresh(k_key), begun(k_key);
  begun.feed(run::Stream::err, k_key + "(", [](run::Stream, std::string_view) {});
  EXPECT_TRUE(std::holds_alternative<run::Lost>(no_trailer("n", false, begun, {1, ""})));
  EXPECT_TRUE(std::holds_alternative<run::Lost>(no_trailer("n", false, fresh, {0, ""}))) << "0 is also what a broken connection gives";
  EXPECT_TRUE(std::holds_alternative<run::NotRun>(no_trailer("n", false, fresh, {1, ""})));
  EXPECT_TRUE(std::holds_alternative<run::Lost>(no_trailer("n", true, begun, {0, "KILL"})));
}

TEST(NoTrailerTest, Sudo_is_named_with_what_it_said) {
  Decoder decoder(k_key);
  decoder.feed(run::Stream::err, "sudo: a password is required\n", [](run::Stream, std::string_view) {});
  decoder.finish([](run::Stream, std::string_view) {});
  const auto outcome = no_trailer("n", true, decoder, {1, ""});
  const auto& error = std::get<run::NotRun>(outcome).error;
  EXPECT_EQ(error.code, Errc::auth);
  EXPECT_NE(error.message.find("a password is required"), std::string::npos);
  EXPECT_NE(error.hint.find("NOPASSWD"), std::string::npos);
}

}  // namespace
}  // namespace sskj::ssh
