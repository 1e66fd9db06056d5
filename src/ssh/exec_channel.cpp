#include "exec_channel.hpp"

#include <fmt/format.h>

#include <array>

#include "outcome.hpp"

namespace sskj::ssh {

namespace {

constexpr run::Millis k_pause_after_refusal{50};
constexpr int k_reads_per_step = 8;
constexpr std::size_t k_buffer = 32768;

}  // namespace

ExecChannel::ExecChannel(net::Loop& loop, std::string label, bool sudo, const run::ExecRequest& request, Handlers handlers)
    : loop_(loop),
      label_(std::move(label)),
      sudo_(sudo),
      command_(bootstrap_command(sudo)),
      key_(new_key()),
      feed_(key_, request.script, request.input, request.vars),
      decoder_(key_),
      handlers_(std::move(handlers)) {}

ExecChannel::~ExecChannel() {
  loop_.cancel(timer_);
  loop_.cancel(pause_);
}

void ExecChannel::finish(run::Outcome outcome) {
  loop_.cancel(timer_);
  timer_ = 0;
  stop_feeding_ = true;
  handlers_.output = nullptr;
  handlers_.again = nullptr;
  if (auto call = std::exchange(handlers_.done, nullptr)) {
    call(std::move(outcome));
  }
}

void ExecChannel::stop(run::Outcome outcome, run::Millis bound) {
  if (stopping_ || !handlers_.done) {
    return;
  }
  stopping_ = stop_feeding_ = true;
  stop_outcome_ = std::move(outcome);
  handlers_.output = nullptr;
  loop_.cancel(timer_);
  timer_ = loop_.after(bound, [this] {
    timer_ = 0;
    finish(stop_outcome_);
  });
  if (session_ != nullptr) {
    session_->schedule();
  }
}

void ExecChannel::died(const Error& error) {
  raw_ = nullptr;
  session_ = nullptr;
  if (stopping_) {
    finish(stop_outcome_);
  } else if (decoder_.status()) {
    finish(run::Exited{*decoder_.status()});
  } else if (!sent_ && handlers_.again) {
    loop_.cancel(timer_);
    timer_ = 0;
    const auto again = std::exchange(handlers_.again, nullptr);
    handlers_ = {};
    again(error);
  } else {
    finish(run::Lost{error});
  }
}

void ExecChannel::open_timer(Session& session) {
  if (timer_ != 0 || stopping_) {
    return;
  }
  const auto bound = session.params().timeouts.open;
  timer_ = loop_.after(bound, [this, bound] {
    timer_ = 0;
    if (phase_ == Phase::opening && session_ != nullptr) {
      session_->clog();
    }
    stopping_ = stop_feeding_ = true;
    stop_outcome_ = run::NotRun{{Errc::timeout, fmt::format("{} did not open a session within {} s (phase open)", label_, bound.count() / 1000), "look at the sshd log of the node"}};
    finish(stop_outcome_);
    if (session_ != nullptr) {
      session_->schedule();
    }
  });
}

Channel::Step ExecChannel::open(Session& session) {
  if (phase_ == Phase::waiting) {
    if (stopping_) {
      finish(stop_outcome_);
      return Step::finished;
    }
    if (pause_ != 0 || session.counted(this) >= session.max_channels || !session.may_open(*this)) {
      return Step::idle;
    }
    phase_ = Phase::opening;
    open_timer(session);
  }
  raw_ = libssh2_channel_open_ex(session.raw(), "session", 7, LIBSSH2_CHANNEL_WINDOW_DEFAULT, LIBSSH2_CHANNEL_PACKET_DEFAULT, nullptr, 0);
  if (raw_ != nullptr) {
    phase_ = Phase::starting;
    session.has_opened = true;
    return Step::progress;
  }
  const int error = libssh2_session_last_errno(session.raw());
  if (error == LIBSSH2_ERROR_EAGAIN) {
    return Step::idle;
  }
  if (error != LIBSSH2_ERROR_CHANNEL_FAILURE) {
    session.kill(session.broken("opening a session"));
    return Step::idle;
  }
  return refused(session);
}

/// MaxSessions: wait until another one ends. sshd counts a session for a moment longer than the channel lasts, so that even with none left it is asked again.
Channel::Step ExecChannel::refused(Session& session) {
  phase_ = Phase::waiting;
  if (const auto others = session.counted(this); others > 0) {
    session.max_channels = others;
    loop_.cancel(timer_);
    timer_ = 0;
    return Step::progress;
  }
  if (session.has_opened) {
    session.max_channels = 1;
    pause_ = loop_.after(k_pause_after_refusal, [this] {
      pause_ = 0;
      if (session_ != nullptr) {
        session_->schedule();
      }
    });
    return Step::progress;
  }
  finish(run::NotRun{{Errc::unreachable, label_ + " refuses to open a session: " + session.last_words(), "look at MaxSessions and the sshd log of the node"}});
  return Step::finished;
}

Channel::Step ExecChannel::start(Session& session) {
  if (stopping_) {  // before anything was sent
    finish(stop_outcome_);
    phase_ = Phase::closing;
    return Step::progress;
  }
  const int rc = libssh2_channel_process_startup(raw_, "exec", 4, command_.data(), static_cast<unsigned int>(command_.size()));
  if (rc == LIBSSH2_ERROR_EAGAIN) {
    return Step::idle;
  }
  if (rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED) {
    finish(run::NotRun{{Errc::auth, label_ + " refuses to run commands for this account", "look for ForceCommand and restrictions in authorized_keys on the node"}});
    phase_ = Phase::closing;
    return Step::progress;
  }
  if (rc != 0) {
    session.kill(session.broken("starting the script"));
    return Step::idle;
  }
  phase_ = Phase::running;
  sent_ = true;
  loop_.cancel(timer_);
  timer_ = 0;
  return Step::progress;
}

/// False when the step must end here: a packet is half-sent, or the session is dead.
bool ExecChannel::read_stream(Session& session, run::Stream stream, bool& progress) {
  std::array<char, k_buffer> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the read
  const int id = stream == run::Stream::out ? 0 : SSH_EXTENDED_DATA_STDERR;
  for (int i = 0; i < k_reads_per_step; ++i) {
    const ssize_t got = libssh2_channel_read_ex(raw_, id, buffer.data(), buffer.size());
    if (got > 0) {
      progress = true;
      decoder_.feed(stream, {buffer.data(), static_cast<std::size_t>(got)}, [this](run::Stream s, std::string_view bytes) {
        if (handlers_.output) {
          handlers_.output(s, bytes);
        }
      });
    } else if (got == LIBSSH2_ERROR_EAGAIN && session.half_sent()) {
      resume_ = stream == run::Stream::out ? Call::read_out : Call::read_err;
      return false;
    } else if (got == 0 || got == LIBSSH2_ERROR_EAGAIN) {
      return true;
    } else {
      session.kill(session.broken("the script ran"));
      return false;
    }
  }
  return true;
}

bool ExecChannel::write_feed(Session& session, bool& progress) {
  for (int i = 0; i < k_reads_per_step && !feed_.peek().empty() && (!stop_feeding_ || resume_ == Call::write); ++i) {
    const auto piece = feed_.peek();
    const ssize_t sent = libssh2_channel_write_ex(raw_, 0, piece.data(), piece.size());
    if (sent > 0) {
      feed_.consume(static_cast<std::size_t>(sent));
      resume_ = Call::none;
      progress = true;
    } else if (sent == LIBSSH2_ERROR_EAGAIN) {
      resume_ = session.half_sent() ? Call::write : Call::none;
      return !session.half_sent();
    } else if (sent == LIBSSH2_ERROR_CHANNEL_CLOSED || sent == LIBSSH2_ERROR_CHANNEL_EOF_SENT || sent == 0) {
      stop_feeding_ = stop_feeding_ || sent != 0;
      return true;
    } else {
      session.kill(session.broken("the script was sent"));
      return false;
    }
  }
  return true;
}

bool ExecChannel::send_eof(bool& progress) {
  const int rc = libssh2_channel_send_eof(raw_);
  if (rc == LIBSSH2_ERROR_EAGAIN) {
    resume_ = Call::eof;
    return false;
  }
  eof_sent_ = progress = true;
  return true;
}

Channel::Step ExecChannel::run(Session& session) {
  bool progress = false;
  const Call resume = std::exchange(resume_, Call::none);
  if ((resume == Call::write && (resume_ = Call::write, !write_feed(session, progress))) || (resume == Call::eof && !send_eof(progress)) ||
      (resume == Call::read_err && !read_stream(session, run::Stream::err, progress))) {
    return progress ? Step::progress : Step::idle;
  }
  if (!read_stream(session, run::Stream::out, progress) || !read_stream(session, run::Stream::err, progress)) {
    return progress ? Step::progress : Step::idle;
  }
  if (libssh2_channel_eof(raw_) == 1) {
    streams_ended();
    phase_ = Phase::closing;
    return Step::progress;
  }
  if (stopping_ && !eof_sent_) {
    send_eof(progress);
  } else if (!stop_feeding_) {
    write_feed(session, progress);
  }
  if (progress && decoder_.status() && handlers_.done && !stopping_) {
    settle();
  }
  return progress ? Step::progress : Step::idle;
}

/// The trailer is here, the streams still are open: wait for what is on its way, then take it as ended.
void ExecChannel::settle() {
  stop_feeding_ = true;
  loop_.cancel(timer_);
  timer_ = loop_.after(k_grace_after_trailer, [this] {
    timer_ = 0;
    stopping_ = true;  // ends the channel's input, so that the server can end the rest
    finish(run::Exited{*decoder_.status()});
    if (session_ != nullptr) {
      session_->schedule();
    }
  });
}

void ExecChannel::streams_ended() {
  decoder_.finish([this](run::Stream s, std::string_view bytes) {
    if (handlers_.output) {
      handlers_.output(s, bytes);
    }
  });
  if (stopping_) {
    finish(stop_outcome_);
  } else if (decoder_.status()) {
    finish(run::Exited{*decoder_.status()});
  }
}

run::Outcome ExecChannel::outcome_without_trailer() {
  char* signal = nullptr;
  std::size_t length = 0;
  libssh2_channel_get_exit_signal(raw_, &signal, &length, nullptr, nullptr, nullptr, nullptr);
  const std::string name = signal == nullptr ? "" : std::string(signal, length);
  if (signal != nullptr) {
    libssh2_free(session_->raw(), signal);
  }
  return no_trailer(label_, sudo_, decoder_, {libssh2_channel_get_exit_status(raw_), name});
}

Channel::Step ExecChannel::close(Session& session) {
  if (handlers_.done && timer_ == 0) {
    timer_ = loop_.after(session.params().timeouts.close, [this] {
      timer_ = 0;
      finish(no_trailer(label_, sudo_, decoder_, {}));
    });
  }
  const int rc = libssh2_channel_close(raw_);
  if (rc == LIBSSH2_ERROR_EAGAIN) {
    return Step::idle;
  }
  if (handlers_.done) {
    finish(outcome_without_trailer());
  }
  libssh2_channel_free(raw_);  // closed, so it cannot ask for another try
  raw_ = nullptr;
  return Step::finished;
}

Channel::Step ExecChannel::step(Session& session) {
  switch (phase_) {
    case Phase::waiting:
    case Phase::opening: return open(session);
    case Phase::starting: return start(session);
    case Phase::running: return run(session);
    case Phase::closing: return close(session);
  }
  return Step::finished;
}

}  // namespace sskj::ssh
