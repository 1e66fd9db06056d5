#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "sskj/core/base64.hpp"
#include "sskj/net/fd.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

namespace {

std::string hashed_name(std::string_view name) {
  std::array<unsigned char, 20> salt{};
  if (::getrandom(salt.data(), salt.size(), 0) != static_cast<ssize_t>(salt.size())) {
    return std::string(name);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()), reinterpret_cast<const unsigned char*>(name.data()), name.size(), hash.data(), &length);
  return "|1|" + base64_encode({reinterpret_cast<const char*>(salt.data()), salt.size()}) + "|" +
         base64_encode({reinterpret_cast<const char*>(hash.data()), length});
}

Result<void> cannot(const std::string& file) {
  return fail(Errc::host_key, "cannot write the new host key to " + file + ": " + std::strerror(errno), "make the file writable, or add the key there yourself");
}

bool ends_without_newline(int fd) {
  char last = '\n';
  const off_t size = ::lseek(fd, 0, SEEK_END);
  return size > 0 && ::pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

KnownHosts load_known_hosts(const std::vector<std::string>& files) {
  KnownHosts hosts;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (in && text << in.rdbuf()) {
      parse_known_hosts(text.str(), file, hosts);
    }
  }
  return hosts;
}

Result<void> append_known_host(const std::string& file, std::string_view name, std::string_view blob, bool hash) {
  const auto slash = file.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    ::mkdir(file.substr(0, slash).c_str(), 0700);
  }
  const net::Fd fd(::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!fd || ::flock(fd.get(), LOCK_EX) != 0) {
    return cannot(file);
  }
  std::string line = ends_without_newline(fd.get()) ? "\n" : "";
  line += (hash ? hashed_name(name) : std::string(name)) + " " + key_type(blob) + " " + base64_encode(blob) + "\n";
  if (::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return cannot(file);
  }
  return {};
}

}  // namespace sskj::ssh
