#include "sskj/view/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace sskj::view {
namespace {

struct ColorCase {
  const char* name;
  ColorInputs inputs;
  bool want;
};

class Color : public ::testing::TestWithParam<ColorCase> {};

TEST_P(Color, Is_decided_by_flag_then_environment_then_terminal) { EXPECT_EQ(wants_color(GetParam().inputs), GetParam().want); }

constexpr ColorChoice k_auto = ColorChoice::automatic;
INSTANTIATE_TEST_SUITE_P(Table, Color,
                         ::testing::Values(ColorCase{"terminal", {k_auto, true, {}, {}, "xterm"}, true}, ColorCase{"pipe", {k_auto, false, {}, {}, "xterm"}, false},
                                           ColorCase{"no_color", {k_auto, true, "1", {}, "xterm"}, false},
                                           ColorCase{"no_color_empty_means_nothing", {k_auto, true, "", {}, "xterm"}, true},
                                           ColorCase{"force_in_pipe", {k_auto, false, {}, "1", {}}, true}, ColorCase{"force_zero_means_nothing", {k_auto, false, {}, "0", {}}, false},
                                           ColorCase{"no_color_beats_force", {k_auto, true, "1", "1", "xterm"}, false},
                                           ColorCase{"dumb", {k_auto, true, {}, {}, "dumb"}, false}, ColorCase{"no_term", {k_auto, true, {}, {}, {}}, false},
                                           ColorCase{"empty_term", {k_auto, true, {}, {}, ""}, false},
                                           ColorCase{"force_beats_dumb", {k_auto, true, {}, "1", "dumb"}, true},
                                           ColorCase{"always_beats_no_color", {ColorChoice::always, false, "1", {}, "dumb"}, true},
                                           ColorCase{"never_beats_force", {ColorChoice::never, true, {}, "1", "xterm"}, false}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(CanRedraw, Needs_a_terminal_that_moves_its_cursor) {
  EXPECT_TRUE(can_redraw(true, "xterm"));
  EXPECT_FALSE(can_redraw(true, "dumb"));
  EXPECT_FALSE(can_redraw(true, {}));
  EXPECT_FALSE(can_redraw(false, "xterm"));
}

TEST(OutputStream, Continues_after_partial_writes_and_interrupts) {
  std::string sink;
  int calls = 0;
  OutputStream stream(
      [&](std::string_view bytes) -> std::int64_t {
        if (++calls % 2 == 0) {
          return -EINTR;
        }
        sink += bytes.substr(0, 3);
        return static_cast<std::int64_t>(std::min<std::size_t>(bytes.size(), 3));
      },
      [](Millis) { return true; });
  stream.write("0123456789");
  EXPECT_EQ(sink, "0123456789");
  EXPECT_EQ(stream.pending(), 0U);
}

TEST(OutputStream, Keeps_what_a_slow_reader_does_not_take_and_sends_it_in_order) {
  std::string sink;
  bool ready = false;
  OutputStream stream(
      [&](std::string_view bytes) -> std::int64_t {
        if (!ready) {
          return -EAGAIN;
        }
        sink += bytes;
        return static_cast<std::int64_t>(bytes.size());
      },
      [&](Millis) { return ready = true; });
  stream.write("first ");
  stream.write("second");
  EXPECT_EQ(sink, "");
  EXPECT_EQ(stream.pending(), 12U);
  EXPECT_TRUE(stream.drain(Millis{1}));
  EXPECT_EQ(sink, "first second");
}

TEST(OutputStream, Drain_gives_up_when_nothing_is_taken) {
  OutputStream stream([](std::string_view) -> std::int64_t { return -EAGAIN; }, [](Millis) { return false; });
  stream.write("x");
  EXPECT_FALSE(stream.drain(Millis{1}));
  EXPECT_FALSE(stream.closed());
  EXPECT_EQ(stream.pending(), 1U);
}

TEST(OutputStream, A_reader_that_left_closes_it_and_later_writes_are_dropped) {
  int calls = 0;
  OutputStream stream(
      [&](std::string_view) -> std::int64_t {
        ++calls;
        return -EPIPE;
      },
      [](Millis) { return true; });
  stream.write("x");
  stream.write("y");
  EXPECT_TRUE(stream.closed());
  EXPECT_EQ(stream.error(), EPIPE);
  EXPECT_EQ(stream.pending(), 0U);
  EXPECT_FALSE(stream.drain(Millis{1}));
  EXPECT_EQ(calls, 1);
}

TEST(OutputStream, Looks_whether_its_reader_left_without_writing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  OutputStream stream = fd_stream(ends[1]);
  stream.look();
  EXPECT_FALSE(stream.closed());
  ::close(ends[0]);
  stream.look();
  EXPECT_EQ(stream.error(), EPIPE);
  ::close(ends[1]);
}

TEST(OutputStream, A_full_disk_is_an_error_of_its_own) {
  const int fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  OutputStream stream = fd_stream(fd);
  stream.write("x");
  EXPECT_TRUE(stream.closed());
  EXPECT_EQ(stream.error(), ENOSPC);
  ::close(fd);
}

TEST(FdStream, Never_blocks_on_a_full_pipe_and_loses_nothing) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  OutputStream stream = fd_stream(ends[1]);
  std::string text;
  for (int i = 0; text.size() < (std::size_t{1} << 20); ++i) {
    text += std::to_string(i) + "\n";
  }
  stream.write(text);  // a blocking pipe of 64 KiB that nobody reads yet
  EXPECT_GT(stream.pending(), 0U);
  std::string got;
  std::array<char, 65536> buffer{};
  while (got.size() < text.size()) {
    const ssize_t count = ::read(ends[0], buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    got.append(buffer.data(), static_cast<std::size_t>(count));
    stream.flush();
  }
  EXPECT_EQ(got, text);
  ::close(ends[0]);
  ::signal(SIGPIPE, SIG_IGN);
  stream.write("more");
  EXPECT_EQ(stream.error(), EPIPE);
  ::close(ends[1]);
}

}  // namespace
}  // namespace sskj::view
