// Gate: how many connections are being made at once, in total and to one entrance (an sshd, or a jump host): MaxStartups drops what comes above its limit.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sskj/net/loop.hpp"

namespace sskj::ssh {

class Gate {
 public:
  /// A place; destroying it lets the next one in.
  class Ticket {
   public:
    Ticket(Gate* gate, std::weak_ptr<int> alive, std::string entrance) : gate_(gate), alive_(std::move(alive)), entrance_(std::move(entrance)) {}
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    Gate* gate_;
    std::weak_ptr<int> alive_;
    std::string entrance_;
  };

  Gate(net::Loop& loop, std::size_t total, std::size_t per_entrance) : loop_(loop), total_(total), per_entrance_(per_entrance) {}

  /// `enter` is called once from the loop, when there is a place. In order of asking, but those before a full entrance do not hold up the rest.
  void ask(const std::string& entrance, std::function<void(std::unique_ptr<Ticket>)> enter);

  /// The entrance turned one away: from now on one fewer is let in there at once, at least one. Of eight at a MaxStartups of 2, six are turned away, and two
  /// places are left. It never widens again: the limit of an sshd does not change in a run.
  void narrow(const std::string& entrance);

 private:
  struct Waiting {
    std::string entrance;
    std::function<void(std::unique_ptr<Ticket>)> enter;
  };
  void leave(const std::string& entrance);
  std::size_t places(const std::string& entrance) const;
  void admit();
  void admit_soon();

  net::Loop& loop_;
  std::size_t total_, per_entrance_, inside_ = 0;
  std::map<std::string, std::size_t> per_;
  std::map<std::string, std::size_t> narrowed_;
  std::deque<Waiting> waiting_;
  bool scheduled_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace sskj::ssh
