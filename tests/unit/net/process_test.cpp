#include "sskj/net/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <optional>

#include "sskj/core/text.hpp"

namespace sskj::net {
namespace {

Result<CommandOutput> run(const std::vector<std::string>& argv, Millis deadline = Millis(30'000), std::size_t max_output = 1U << 20) {
  Loop loop;
  std::optional<Result<CommandOutput>> result;
  ProcessSpec spec;
  spec.argv = argv;
  const auto handle = run_command(loop, spec, deadline, max_output, [&](Result<CommandOutput> output) {
    result = std::move(output);
    loop.stop();
  });
  loop.run();
  return *result;
}

TEST(CommandTest, Output_status_and_signal_come_back) {
  const auto ok = run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(ok);
  EXPECT_EQ(ok->out, "out\n");
  EXPECT_EQ(ok->err, "err\n");
  EXPECT_EQ(ok->status.code, 3);
  const auto killed = run({"sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->status.signal, SIGKILL);
}

TEST(CommandTest, Stdin_is_empty_unless_asked_for) { EXPECT_EQ(run({"cat"})->out, ""); }

TEST(CommandTest, Output_is_bounded_and_marked) {
  const auto output = run({"sh", "-c", "head -c 300000 /dev/zero"}, Millis(30'000), 1000);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->out.size(), 1000U);
  EXPECT_TRUE(output->truncated);
}

TEST(CommandTest, Missing_program_is_an_error_that_names_it) {
  const auto output = run({"/nowhere/no-such-program"});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, Errc::internal);
  EXPECT_NE(output.error().message.find("no-such-program"), std::string::npos);
}

TEST(CommandTest, Deadline_kills_the_whole_group) {
  const auto output = run({"sh", "-c", "sleep 1000 & sleep 1000"}, Millis(50));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code, Errc::timeout);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was left";
}

TEST(CommandTest, Children_do_not_inherit_the_ignored_SIGPIPE) {
  EXPECT_EQ(run({"sh", "-c", "trap"})->out, "");
  EXPECT_EQ(run({"sh", "-c", "(sh -c 'kill -13 $$; echo survived')"})->out, "");
}

TEST(ProcessTest, Long_input_goes_in_with_back_pressure) {
  Loop loop;
  const std::string input(3'000'000, 'x');
  std::size_t sent = 0;
  std::string out;
  ProcessSpec spec;
  spec.argv = {"wc", "-c"};
  spec.stdin_pipe = true;
  std::unique_ptr<Process> process;
  bool short_write = false;
  const auto feed = [&] {
    sent += process->write(std::string_view(input).substr(sent));
    short_write = short_write || sent < input.size();
    if (sent == input.size()) {
      process->close_stdin();
    }
  };
  ProcessHandlers handlers;
  handlers.output = [&](int, std::string_view bytes) { out.append(bytes); };
  handlers.writable = feed;
  handlers.exited = [&](ExitStatus) { loop.stop(); };
  process = std::move(*Process::spawn(loop, spec, std::move(handlers)));
  feed();
  loop.run();
  EXPECT_EQ(text::trim(out), "3000000");
  EXPECT_TRUE(short_write);
}

TEST(ProcessTest, Child_that_closed_its_stdin_takes_the_rest_silently) {
  Loop loop;
  ProcessSpec spec;
  spec.argv = {"true"};
  spec.stdin_pipe = true;
  ProcessHandlers handlers;
  handlers.exited = [&](ExitStatus) { loop.stop(); };
  auto process = std::move(*Process::spawn(loop, spec, std::move(handlers)));
  loop.run();
  EXPECT_EQ(process->write("too late"), 8U);
}

TEST(ProcessTest, New_session_makes_the_child_its_leader) {
  Loop loop;
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "echo $$ $(ps -o sid= -p $$)"};
  spec.new_session = true;
  std::string out;
  ProcessHandlers handlers;
  handlers.output = [&](int, std::string_view bytes) { out.append(bytes); };
  handlers.exited = [&](ExitStatus) { loop.stop(); };
  const auto process = std::move(*Process::spawn(loop, spec, std::move(handlers)));
  loop.run();
  const std::string pid = std::to_string(process->pid());
  EXPECT_EQ(out, pid + " " + pid + "\n");
}

TEST(ProcessTest, Destroying_it_ends_and_reaps_the_child) {
  Loop loop;
  ProcessSpec spec;
  spec.argv = {"sleep", "1000"};
  auto process = std::move(*Process::spawn(loop, spec, {}));
  const pid_t pid = process->pid();
  process.reset();
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(FindProgramTest, Searches_the_path_given) {
  EXPECT_EQ(find_program("sh", "/nowhere:/bin"), "/bin/sh");
  EXPECT_EQ(find_program("sh", "/nowhere"), "");
  EXPECT_EQ(find_program("/opt/ssh", "/bin"), "/opt/ssh");
}

}  // namespace
}  // namespace sskj::net
