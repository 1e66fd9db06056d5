// Fd: an owned file descriptor.
#pragma once

#include <utility>

namespace sskj::net {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int value) : value_(value) {}
  Fd(Fd&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset(std::exchange(other.value_, -1));
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }
  int release() { return std::exchange(value_, -1); }
  void reset(int value = -1);

 private:
  int value_ = -1;
};

/// Two connected, non-blocking, close-on-exec UNIX stream sockets; both empty when the system has no descriptor left.
std::pair<Fd, Fd> socket_pair();

/// Switches O_NONBLOCK on.
void set_nonblocking(int fd);

}  // namespace sskj::net
