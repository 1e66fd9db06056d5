#include "sskj/net/fd.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sskj::net {

void Fd::reset(int value) {
  if (value_ >= 0) {
    ::close(value_);
  }
  value_ = value;
}

std::pair<Fd, Fd> socket_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return {};
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

void set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags >= 0) {
    ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  }
}

}  // namespace sskj::net
