// ExecChannel: one exec over a session, from opening the channel to its outcome.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "session.hpp"
#include "sskj/ssh/bootstrap.hpp"

namespace sskj::ssh {

class ExecChannel : public Channel {
 public:
  /// `output` may be called from step(); `done` exactly once, from step(), died() or a timer. `again` instead of `done`: the session died before anything was sent.
  struct Handlers {
    std::function<void(run::Stream, std::string_view)> output;
    std::function<void(run::Outcome)> done;
    std::function<void(const Error&)> again;
  };
  ExecChannel(net::Loop& loop, std::string label, bool sudo, const run::ExecRequest& request, Handlers handlers);
  ~ExecChannel() override;

  Step step(Session& session) override;
  void died(const Error& error) override;
  bool opening() const override { return phase_ == Phase::opening; }
  bool counts() const override { return phase_ != Phase::waiting; }

  /// Tells the remote process group to stop; `done` follows with `outcome` when it is gone, or after `bound`.
  void stop(run::Outcome outcome, run::Millis bound);
  bool sent() const { return sent_; }   ///< script bytes may have gone out
  void attach(Session* session) { session_ = session; }

 private:
  enum class Phase { waiting, opening, starting, running, closing };
  enum class Call { none, read_out, read_err, write, eof };
  Step open(Session& session);
  Step refused(Session& session);
  Step start(Session& session);
  Step run(Session& session);
  Step close(Session& session);
  bool read_stream(Session& session, run::Stream stream, bool& progress);
  bool write_feed(Session& session, bool& progress);
  bool send_eof(bool& progress);
  void settle();
  void streams_ended();
  void finish(run::Outcome outcome);
  run::Outcome outcome_without_trailer();
  void open_timer(Session& session);

  net::Loop& loop_;
  std::string label_;
  bool sudo_;
  std::string command_;
  std::string key_;
  Feed feed_;
  Decoder decoder_;
  Handlers handlers_;
  Session* session_ = nullptr;
  LIBSSH2_CHANNEL* raw_ = nullptr;
  Phase phase_ = Phase::waiting;
  Call resume_ = Call::none;     ///< the call that left a packet half-sent
  bool sent_ = false;            ///< script bytes may have gone out: from here on nothing is "not run" without proof
  bool stopping_ = false, eof_sent_ = false, stop_feeding_ = false;
  run::Outcome stop_outcome_;
  net::TimerId pause_ = 0;       ///< between a refused open and the next
  net::TimerId timer_ = 0;       ///< phase deadline, grace after the trailer, bound of a stop
};

}  // namespace sskj::ssh
