#include "sskj/view/output.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace sskj::view {

namespace {

bool set(const std::optional<std::string>& value) { return value && !value->empty(); }

bool writable(int fd, Millis limit) {
  pollfd entry{fd, POLLOUT, 0};
  const int count = ::poll(&entry, 1, static_cast<int>(limit.count()));
  return count > 0;
}

// A write of at most PIPE_BUF bytes to a pipe that polled writable cannot block; a terminal gets less, because its buffer is smaller.
std::size_t chunk_of(int fd) {
  if (::isatty(fd) == 1) {
    return 1024;
  }
  struct stat status {};
  const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return regular ? std::size_t{1} << 20 : std::size_t{PIPE_BUF};
}

std::int64_t fd_write(int fd, std::size_t chunk, std::string_view bytes) {
  if (bytes.empty()) {
    pollfd entry{fd, 0, 0};
    return ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLERR) != 0 ? -EPIPE : 0;
  }
  if (!writable(fd, Millis{0})) {
    return -EAGAIN;
  }
  const ssize_t count = ::write(fd, bytes.data(), std::min(bytes.size(), chunk));
  return count >= 0 ? count : -static_cast<std::int64_t>(errno);
}

}  // namespace

bool wants_color(const ColorInputs& inputs) {
  if (inputs.flag != ColorChoice::automatic) {
    return inputs.flag == ColorChoice::always;
  }
  if (set(inputs.no_color)) {
    return false;
  }
  if (set(inputs.clicolor_force) && *inputs.clicolor_force != "0") {
    return true;
  }
  return can_redraw(inputs.is_tty, inputs.term);
}

bool can_redraw(bool is_tty, const std::optional<std::string>& term) { return is_tty && set(term) && *term != "dumb"; }

void OutputStream::flush() {
  while (!closed() && pending() > 0) {
    const std::int64_t count = write_(std::string_view(pending_).substr(sent_));
    if (count == -EINTR) {
      continue;
    }
    if (count == -EAGAIN || count == 0) {
      break;
    }
    if (count < 0) {  // EPIPE, EIO of a closed terminal, ENOSPC: nobody will read the rest
      error_ = static_cast<int>(-count);
      break;
    }
    sent_ += static_cast<std::size_t>(count);
  }
  if (closed() || sent_ == pending_.size()) {
    pending_.clear();
    sent_ = 0;
  } else if (sent_ > (std::size_t{1} << 20)) {
    pending_.erase(0, sent_);
    sent_ = 0;
  }
}

void OutputStream::look() {
  if (closed() || pending() > 0) {
    return;
  }
  const std::int64_t answer = write_({});
  if (answer < 0 && answer != -EAGAIN && answer != -EINTR) {
    error_ = static_cast<int>(-answer);
  }
}

void OutputStream::write(std::string_view bytes) {
  if (closed()) {
    return;
  }
  pending_.append(bytes);
  flush();
  while (!closed() && pending() > k_max_pending) {
    wait_(k_drain_limit);
    flush();
  }
}

bool OutputStream::drain(Millis limit) {
  flush();
  while (!closed() && pending() > 0) {
    if (!wait_(limit)) {
      return false;
    }
    flush();
  }
  return !closed();
}

OutputStream fd_stream(int fd) {
  const std::size_t chunk = chunk_of(fd);
  return {[fd, chunk](std::string_view bytes) { return fd_write(fd, chunk, bytes); }, [fd](Millis limit) { return writable(fd, limit); }};
}

OutputStream string_stream(std::string& sink) {
  return {[&sink](std::string_view bytes) {
            sink.append(bytes);
            return static_cast<std::int64_t>(bytes.size());
          },
          [](Millis) { return true; }};
}

void refresh_size(Output& output) {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    output.width = size.ws_col;
    output.height = size.ws_row;
  }
}

Output system_output(ColorChoice flag, const std::function<std::optional<std::string>(const char*)>& environment) {
  const auto inputs = [&](int fd) {
    return ColorInputs{flag, ::isatty(fd) == 1, environment("NO_COLOR"), environment("CLICOLOR_FORCE"), environment("TERM")};
  };
  const ColorInputs out = inputs(STDOUT_FILENO);
  const ColorInputs err = inputs(STDERR_FILENO);
  Output output{fd_stream(STDOUT_FILENO), fd_stream(STDERR_FILENO), wants_color(out), wants_color(err), can_redraw(err.is_tty, err.term), 80, 24};
  refresh_size(output);
  return output;
}

}  // namespace sskj::view
