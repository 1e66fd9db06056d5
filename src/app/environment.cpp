#include "environment.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

#include "sskj/deploy/roles.hpp"

namespace sskj::app {
namespace {

std::string home() { return get_env("HOME").value_or("/"); }

std::string xdg(const char* variable, const char* fallback) {
  const auto set = get_env(variable);
  return set && set->starts_with('/') ? *set : home() + fallback;
}

std::string utc(const char* format, std::time_t now) {
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

Error cannot_read(const std::string& path, int reason) {
  return Error{Errc::usage, "cannot read " + path + ": " + std::generic_category().message(reason), "check the path and its permissions"};
}

}  // namespace

std::optional<std::string> get_env(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread, nothing sets the environment
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return tl::unexpected<Error>(cannot_read(path, errno));
  std::string content;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int reason = errno;
      close(file);
      return tl::unexpected<Error>(cannot_read(path, reason));
    }
    if (got == 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > max_bytes) {
      close(file);
      return fail(Errc::usage, path + " is larger than " + std::to_string(max_bytes) + " bytes", "is it the right file?");
    }
  }
  close(file);
  return content;
}

bool file_exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  std::error_code ec;
  for (std::filesystem::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string state_home() { return xdg("XDG_STATE_HOME", "/.local/state"); }
std::string config_home() { return xdg("XDG_CONFIG_HOME", "/.config"); }

Result<std::string> resolve_secret(const plan::SecretRef& secret) {
  constexpr std::string_view k_env = "from_env:";
  constexpr std::string_view k_file = "from_file:";
  std::string value;
  if (secret.ref.starts_with(k_env)) {
    const std::string name = secret.ref.substr(k_env.size());
    const auto found = get_env(name);
    if (!found || found->empty()) return fail(Errc::usage, "the environment variable " + name + " that holds a secret is not set", "export " + name + "=... and run again");
    value = *found;
  } else if (secret.ref.starts_with(k_file)) {
    auto content = read_file(secret.ref.substr(k_file.size()), 64U << 10U);
    if (!content) return content;
    value = std::move(*content);
    if (value.ends_with('\n')) value.pop_back();
    if (value.empty()) return fail(Errc::usage, "the secret file " + secret.ref.substr(k_file.size()) + " is empty");
  } else {
    return fail(Errc::usage, "a secret must be from_env:NAME or from_file:PATH");
  }
  if (!deploy::valid_secret(value)) {
    return fail(Errc::usage, "the value of the secret " + secret.ref + " cannot be carried to the engine and in an HTTP header: expected 1 to 512 printable ASCII characters without blank, quote or backslash that do not begin with '-'",
                "give the service another key, and check that the variable or file holds the key alone");
  }
  return value;
}

std::int64_t wall_millis() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string wall_clock() {
  const std::int64_t now = wall_millis();
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(now % 1000));
  return utc("%Y-%m-%dT%H:%M:%S", static_cast<std::time_t>(now / 1000)) + fraction.data();
}

run::RunVars new_run(const plan::Plan& plan) {
  const std::time_t now = std::time(nullptr);
  unsigned tail = 0;
  if (getrandom(&tail, sizeof tail, 0) != static_cast<ssize_t>(sizeof tail)) tail = static_cast<unsigned>(getpid());
  std::array<char, 16> hex{};
  std::snprintf(hex.data(), hex.size(), "%04x", tail & 0xFFFFU);
  return {utc("%Y%m%d-%H%M%S-", now) + hex.data(), plan::digest(plan), utc("%Y-%m-%dT%H:%M:%SZ", now)};
}

}  // namespace sskj::app
