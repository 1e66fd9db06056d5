#include "sskj/net/loop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "sskj/net/fd.hpp"

namespace sskj::net {
namespace {

TEST(LoopTest, Posted_work_runs_in_order_and_not_at_once) {
  Loop loop;
  std::vector<int> order;
  loop.post([&] { order.push_back(1); });
  loop.post([&] {
    order.push_back(2);
    loop.stop();
  });
  EXPECT_TRUE(order.empty());
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(LoopTest, Timers_fire_by_their_delay_and_cancelled_ones_never) {
  Loop loop;
  std::vector<int> order;
  loop.after(Millis(2), [&] {
    order.push_back(2);
    loop.stop();
  });
  loop.after(Millis(1), [&] { order.push_back(1); });
  loop.cancel(loop.after(Millis(0), [&] { order.push_back(0); }));
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(LoopTest, Timer_may_be_cancelled_by_one_that_fires_in_the_same_turn) {
  Loop loop;
  TimerId second = 0;
  loop.after(Millis(0), [&] { loop.cancel(second); });
  second = loop.after(Millis(0), [&] { ADD_FAILURE() << "cancelled"; });
  loop.after(Millis(1), [&] { loop.stop(); });
  loop.run();
}

TEST(LoopTest, Signals_call_back_each_time) {
  Loop loop;
  int count = 0;
  loop.on_signal(SIGUSR1, [&] {
    if (++count == 2) {
      loop.stop();
    } else {
      std::raise(SIGUSR1);
    }
  });
  std::raise(SIGUSR1);
  loop.run();
  EXPECT_EQ(count, 2);
}

TEST(WatchTest, Tells_readable_and_writable_once_per_want) {
  Loop loop;
  auto [near_end, far_end] = socket_pair();
  int reads = 0, writes = 0;
  Watch watch(loop, near_end.get(), [&](bool readable, bool writable) {
    reads += readable ? 1 : 0;
    writes += writable ? 1 : 0;
  });
  watch.want(true, true);
  ASSERT_EQ(::write(far_end.get(), "x", 1), 1);
  loop.after(Millis(1), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(reads, 1);
  watch.want(true, false);  // the byte is still there: level, not edge
  loop.after(Millis(1), [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(reads, 2);
}

TEST(WatchTest, May_be_destroyed_in_its_own_callback_and_leaves_the_descriptor_open) {
  Loop loop;
  auto [near_end, far_end] = socket_pair();
  std::unique_ptr<Watch> watch;
  watch = std::make_unique<Watch>(loop, near_end.get(), [&](bool, bool) {
    watch.reset();
    loop.stop();
  });
  watch->want(true, true);
  loop.run();
  EXPECT_EQ(::write(near_end.get(), "x", 1), 1);
}

}  // namespace
}  // namespace sskj::net
