#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "sskj/core/text.hpp"
#include "sskj/net/connect.hpp"
#include "sskj/net/process.hpp"

namespace sskj::net {

namespace {

constexpr std::size_t k_max_output = 64U << 10;

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  std::istringstream in{std::string(line)};
  for (std::string word; in >> word;) {
    out.push_back(std::move(word));
  }
  return out;
}

bool equal_names(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (is_numeric_address(item) && std::find(list.begin(), list.end(), item) == list.end()) {
    list.push_back(item);
  }
}

std::vector<std::string> from_hosts_file(const std::string& name) {
  std::ifstream file("/etc/hosts");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_hosts(text.str(), name);
}

class Posted : public Operation {
 public:
  ~Posted() override { *alive_ = false; }
  std::shared_ptr<bool> alive() const { return alive_; }

 private:
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

Result<std::vector<std::string>> addresses_or_error(std::vector<std::string> addresses, const std::string& name) {
  if (addresses.empty()) {
    return fail(Errc::unreachable, "the name " + name + " has no address", "check the spelling, or write the address: getent ahosts " + name);
  }
  return addresses;
}

Handle answer_later(Loop& loop, Result<std::vector<std::string>> answer, std::function<void(Result<std::vector<std::string>>)> done) {
  auto operation = std::make_unique<Posted>();
  loop.post([alive = operation->alive(), answer = std::move(answer), done = std::move(done)]() mutable {
    if (*alive) {
      done(std::move(answer));
    }
  });
  return operation;
}

}  // namespace

bool is_numeric_address(std::string_view text) { return !canonical_address(text).empty(); }

std::string canonical_address(std::string_view text) {
  const std::string address(text);
  in6_addr buffer{};
  char out[INET6_ADDRSTRLEN] = "";
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, address.c_str(), &buffer) == 1) {
      return ::inet_ntop(family, &buffer, out, sizeof out);
    }
  }
  return {};
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> own;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return own;
  }
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    const int family = at->ifa_addr == nullptr ? AF_UNSPEC : at->ifa_addr->sa_family;
    char out[INET6_ADDRSTRLEN] = "";
    if (family == AF_INET) {
      own.emplace_back(::inet_ntop(family, &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, out, sizeof out));
    } else if (family == AF_INET6) {
      own.emplace_back(::inet_ntop(family, &reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr, out, sizeof out));
    }
  }
  ::freeifaddrs(list);
  return own;
}

std::vector<std::string> parse_getent(std::string_view output) {
  std::vector<std::string> addresses;
  for (const auto& line : text::split_lines(output)) {
    const auto fields = words(line);
    if (!fields.empty()) {
      add_once(addresses, fields[0]);
    }
  }
  return addresses;
}

std::vector<std::string> parse_hosts(std::string_view hosts, std::string_view name) {
  std::vector<std::string> addresses;
  for (const auto& line : text::split_lines(hosts)) {
    const auto fields = words(std::string_view(line).substr(0, line.find('#')));
    for (std::size_t i = 1; i < fields.size(); ++i) {
      if (equal_names(fields[i], name)) {
        add_once(addresses, fields[0]);
      }
    }
  }
  return addresses;
}

Handle resolve(Loop& loop, const std::string& name, Millis deadline, std::function<void(Result<std::vector<std::string>>)> done) {
  if (is_numeric_address(name)) {
    return answer_later(loop, std::vector<std::string>{name}, std::move(done));
  }
  if (equal_names(name, "localhost")) {
    return answer_later(loop, std::vector<std::string>{"127.0.0.1", "::1"}, std::move(done));
  }
  const char* path = std::getenv("PATH");
  const std::string getent = find_program("getent", path == nullptr ? "/usr/bin:/bin" : path);
  if (getent.empty()) {
    return answer_later(loop, addresses_or_error(from_hosts_file(name), name), std::move(done));
  }
  ProcessSpec spec;
  spec.argv = {getent, "ahosts", "--", name};
  return run_command(loop, spec, deadline, k_max_output, [name, done = std::move(done)](Result<CommandOutput> output) {
    if (!output) {
      done(output.error().code == Errc::timeout
               ? Result<std::vector<std::string>>(fail(Errc::timeout, "the name " + name + " was not resolved in time", "write the address instead of the name"))
               : addresses_or_error(from_hosts_file(name), name));
      return;
    }
    done(addresses_or_error(parse_getent(output->out), name));
  });
}

}  // namespace sskj::net
