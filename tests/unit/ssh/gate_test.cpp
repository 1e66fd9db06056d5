#include "gate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sskj::ssh {
namespace {

struct Inside {
  std::string entrance;
  std::unique_ptr<Gate::Ticket> ticket;
};

class GateTest : public ::testing::Test {
 protected:
  void ask(Gate& gate, const std::string& entrance) {
    gate.ask(entrance, [this, entrance](std::unique_ptr<Gate::Ticket> ticket) { inside.push_back({entrance, std::move(ticket)}); });
  }
  void turn() {
    loop.after(net::Millis(1), [this] { loop.stop(); });
    loop.run();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& one : inside) {
      out.push_back(one.entrance);
    }
    return out;
  }
  net::Loop loop;
  std::vector<Inside> inside;
};

using Names = std::vector<std::string>;

TEST_F(GateTest, Lets_in_so_many_and_the_next_when_one_leaves) {
  Gate gate(loop, 2, 8);
  for (const char* name : {"a", "b", "c"}) {
    ask(gate, name);
  }
  EXPECT_TRUE(inside.empty()) << "not from inside the call";
  turn();
  EXPECT_EQ(names(), (Names{"a", "b"}));
  inside.erase(inside.begin());
  turn();
  EXPECT_EQ(names(), (Names{"b", "c"}));
}

TEST_F(GateTest, Full_entrance_does_not_hold_up_the_others) {
  Gate gate(loop, 10, 2);
  for (const char* name : {"a", "a", "a", "b"}) {
    ask(gate, name);
  }
  turn();
  EXPECT_EQ(names(), (Names{"a", "a", "b"}));
  inside.erase(inside.begin());
  turn();
  EXPECT_EQ(names(), (Names{"a", "b", "a"}));
}

TEST_F(GateTest, Ticket_that_is_dropped_at_once_lets_the_next_in) {
  Gate gate(loop, 1, 1);
  gate.ask("a", [](std::unique_ptr<Gate::Ticket>) {});
  ask(gate, "a");
  turn();
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(GateTest, Each_that_is_turned_away_takes_a_place_from_that_entrance_but_never_the_last) {
  Gate gate(loop, 10, 3);
  gate.narrow("a");
  for (const char* name : {"a", "a", "a", "b", "b", "b"}) {
    ask(gate, name);
  }
  turn();
  EXPECT_EQ(names(), (Names{"a", "a", "b", "b", "b"}));
  inside.clear();
  for (int i = 0; i < 5; ++i) {
    gate.narrow("a");
  }
  ask(gate, "a");
  turn();
  EXPECT_EQ(names(), Names{"a"});
}

TEST_F(GateTest, Ticket_may_outlive_the_gate) {
  auto gate = std::make_unique<Gate>(loop, 1, 1);
  ask(*gate, "a");
  turn();
  gate.reset();
  inside.clear();
}

}  // namespace
}  // namespace sskj::ssh
