#include "sskj/net/loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <list>
#include <unordered_map>

namespace sskj::net {

namespace asio = boost::asio;

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::unordered_map<TimerId, std::unique_ptr<asio::steady_timer>> timers;
  std::list<asio::signal_set> signals;
  TimerId last_timer = 0;

  void wait_signal(asio::signal_set& set, std::function<void()> fn) {
    set.async_wait([this, &set, fn = std::move(fn)](const boost::system::error_code& error, int) {
      if (error) {
        return;
      }
      auto call = fn;
      wait_signal(set, fn);
      call();
    });
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) { std::signal(SIGPIPE, SIG_IGN); }

Loop::~Loop() = default;

void Loop::run() {
  impl_->context.restart();
  impl_->context.run();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> fn) { asio::post(impl_->context, std::move(fn)); }

TimerId Loop::after(Millis delay, std::function<void()> fn) {
  const TimerId id = ++impl_->last_timer;
  auto& timer = impl_->timers[id];
  timer = std::make_unique<asio::steady_timer>(impl_->context, delay);
  timer->async_wait([impl = impl_.get(), id, fn = std::move(fn)](const boost::system::error_code& error) {
    // A timer that expired in the same turn in which it was cancelled is already queued without an error: the map decides.
    if (error || impl->timers.erase(id) == 0) {
      return;
    }
    fn();
  });
  return id;
}

void Loop::cancel(TimerId timer) { impl_->timers.erase(timer); }

Millis Loop::now() const {
  return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now().time_since_epoch());
}

void Loop::on_signal(int signal, std::function<void()> fn) {
  auto& set = impl_->signals.emplace_back(impl_->context, signal);
  impl_->wait_signal(set, std::move(fn));
}

struct Watch::State {
  State(Loop& loop, int fd, Callback fn) : descriptor(loop.impl().context, fd), callback(std::move(fn)) {}
  asio::posix::stream_descriptor descriptor;
  Callback callback;
  bool armed_read = false;
  bool armed_write = false;
  bool dead = false;
};

Watch::Watch(Loop& loop, int fd, Callback callback) : state_(std::make_shared<State>(loop, fd, std::move(callback))) {}

Watch::~Watch() {
  state_->dead = true;
  state_->descriptor.release();  // cancels what is armed; the descriptor stays open and the caller's
}

void Watch::want(bool read, bool write) {
  const auto arm = [this](bool& armed, asio::posix::descriptor_base::wait_type type, bool reading) {
    armed = true;
    state_->descriptor.async_wait(type, [state = state_, &armed, reading](const boost::system::error_code& error) {
      armed = false;
      if (!state->dead && error != asio::error::operation_aborted) {
        state->callback(reading, !reading);
      }
    });
  };
  if (read && !state_->armed_read) {
    arm(state_->armed_read, asio::posix::descriptor_base::wait_read, true);
  }
  if (write && !state_->armed_write) {
    arm(state_->armed_write, asio::posix::descriptor_base::wait_write, false);
  }
}

}  // namespace sskj::net
