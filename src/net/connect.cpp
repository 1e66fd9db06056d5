#include "sskj/net/connect.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sskj::net {

namespace {

constexpr int k_user_timeout_ms = 30'000;
constexpr int k_keep_idle_s = 15;
constexpr int k_keep_interval_s = 5;
constexpr int k_keep_count = 3;

template <class T>
void set_option(int fd, int level, int name, T value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

socklen_t make_address(const std::string& text, std::uint16_t port, sockaddr_storage& storage) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  storage = {};
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    return sizeof(sockaddr_in);
  }
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof(sockaddr_in6);
  }
  return 0;
}

std::string describe(int error) {
  switch (error) {
    case ECONNREFUSED: return "connection refused";
    case ETIMEDOUT: return "no answer";
    case EHOSTUNREACH: return "no route to host";
    case ENETUNREACH: return "network unreachable";
    default: return std::strerror(error);
  }
}

struct Attempt : std::enable_shared_from_this<Attempt> {
  explicit Attempt(Loop& l) : loop(l) {}
  Loop& loop;
  std::vector<std::string> addresses;
  std::size_t next = 0;
  std::uint16_t port = 0;
  ConnectDone done;
  Fd socket;
  std::unique_ptr<Watch> watch;
  TimerId timer = 0;
  int last_error = EADDRNOTAVAIL;

  void begin_next();
  void begin(const std::string& address);
  void check();
  void finish(tl::expected<Fd, ConnectError> result);
  void close() {
    watch.reset();
    socket.reset();
  }
};

void Attempt::finish(tl::expected<Fd, ConnectError> result) {
  const auto keep = shared_from_this();
  loop.cancel(timer);
  watch.reset();
  if (auto call = std::exchange(done, nullptr)) {
    call(std::move(result));
  }
}

void Attempt::begin_next() {
  while (next < addresses.size()) {
    begin(addresses[next++]);
    if (watch) {
      return;
    }
  }
  finish(tl::unexpected<ConnectError>({last_error, describe(last_error)}));
}

void Attempt::begin(const std::string& address) {
  sockaddr_storage storage{};
  const socklen_t length = make_address(address, port, storage);
  if (length == 0) {
    return;
  }
  socket = Fd(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    last_error = errno;
    return;
  }
  const int fd = socket.get();
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, k_keep_idle_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, k_keep_interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, k_keep_count);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, k_user_timeout_ms);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&storage), length) != 0 && errno != EINPROGRESS) {
    last_error = errno;
    socket.reset();
    return;
  }
  watch = std::make_unique<Watch>(loop, fd, [this](bool, bool) { check(); });
  watch->want(false, true);
}

void Attempt::check() {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0) {
    finish(std::move(socket));
    return;
  }
  last_error = error;
  const auto keep = shared_from_this();
  close();
  begin_next();
}

class ConnectOperation : public Operation {
 public:
  explicit ConnectOperation(std::shared_ptr<Attempt> attempt) : attempt_(std::move(attempt)) {}
  ~ConnectOperation() override {
    attempt_->done = nullptr;
    attempt_->loop.cancel(attempt_->timer);
    attempt_->close();
  }

 private:
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace

Handle connect_tcp(Loop& loop, std::vector<std::string> addresses, std::uint16_t port, Millis deadline, ConnectDone done) {
  auto attempt = std::make_shared<Attempt>(loop);
  attempt->addresses = std::move(addresses);
  attempt->port = port;
  attempt->done = std::move(done);
  attempt->timer = loop.after(deadline, [a = attempt.get()] {
    const auto keep = a->shared_from_this();
    a->close();
    a->finish(tl::unexpected<ConnectError>({ETIMEDOUT, describe(ETIMEDOUT)}));
  });
  loop.post([attempt] {
    if (attempt->done) {
      attempt->begin_next();
    }
  });
  return std::make_unique<ConnectOperation>(std::move(attempt));
}

}  // namespace sskj::net
