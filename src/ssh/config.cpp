#include "sskj/ssh/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "sskj/core/text.hpp"

namespace sskj::ssh {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && port > 0 ? std::optional(port) : std::nullopt;
}

std::string first(const RawSettings& raw, std::string_view key) {
  const auto at = raw.find(key);
  return at == raw.end() || at->second == "none" ? std::string{} : at->second;
}

bool yes(const RawSettings& raw, std::string_view key) {
  const std::string value = first(raw, key);
  return value == "yes" || value == "true";
}

/// ~ and the %-tokens that name things of this connection; an unknown token stays as it is.
std::string expand(std::string_view text, const Settings& settings, const Environment& environment) {
  std::string out;
  if (text == "~" || text.starts_with("~/")) {
    out = environment.home;
    text.remove_prefix(1);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    switch (text[++i]) {
      case '%': out += '%'; break;
      case 'd': out += environment.home; break;
      case 'h': out += settings.host; break;
      case 'n': out += settings.original; break;
      case 'p': out += std::to_string(settings.port); break;
      case 'r': out += settings.user; break;
      case 'u': out += environment.user; break;
      case 'i': out += std::to_string(::getuid()); break;
      case 'k': out += settings.host_key_alias.empty() ? settings.original : settings.host_key_alias; break;
      default: out.append({'%', text[i]}); break;
    }
  }
  return out;
}

std::vector<std::string> expand_all(const RawSettings& raw, std::string_view key, const Settings& settings, const Environment& environment) {
  std::vector<std::string> out;
  const auto [begin, end] = raw.equal_range(key);
  for (auto at = begin; at != end; ++at) {
    if (at->second != "none") {
      out.push_back(expand(at->second, settings, environment));
    }
  }
  return out;
}

/// Blank-separated file names of one line; OpenSSH prints names with blanks unquoted, those cannot be told apart.
std::vector<std::string> files(std::string_view line, const Settings& settings, const Environment& environment) {
  std::vector<std::string> out;
  while (!(line = text::trim(line)).empty()) {
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    if (line.substr(0, end) != "none") {
      out.push_back(expand(line.substr(0, end), settings, environment));
    }
    line.remove_prefix(end);
  }
  return out;
}

std::string agent_socket(const RawSettings& raw, const Settings& settings, const Environment& environment) {
  const auto at = raw.find("identityagent");
  if (at == raw.end() || at->second == "SSH_AUTH_SOCK") {
    return environment.agent_socket;
  }
  if (at->second == "none") {
    return {};
  }
  return at->second.starts_with('$') ? variable(at->second.c_str() + 1) : expand(at->second, settings, environment);
}

std::vector<std::string> default_identities(const Environment& environment) {
  return {environment.home + "/.ssh/id_rsa", environment.home + "/.ssh/id_ecdsa", environment.home + "/.ssh/id_ed25519"};
}

}  // namespace

Environment process_environment() {
  Environment environment;
  environment.home = variable("HOME");
  environment.user = variable("USER");
  if (environment.user.empty()) {
    environment.user = variable("LOGNAME");
  }
  if (::getuid() == 0) {
    environment.user = "root";
    environment.home = environment.home.empty() ? "/root" : environment.home;
  }
  if (const auto path = variable("PATH"); !path.empty()) {
    environment.path = path;
  }
  environment.agent_socket = variable("SSH_AUTH_SOCK");
  return environment;
}

RawSettings parse_ssh_g(std::string_view output) {
  RawSettings raw;
  for (const auto& line : text::split_lines(output)) {
    const auto blank = line.find(' ');
    if (blank == std::string::npos || blank == 0) {
      continue;
    }
    std::string key = line.substr(0, blank);
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    raw.emplace(std::move(key), std::string(text::trim(std::string_view(line).substr(blank + 1))));
  }
  return raw;
}

Result<Settings> make_settings(const RawSettings& raw, const plan::SshTarget& target, const Environment& environment) {
  Settings settings;
  settings.original = target.host;
  settings.host = first(raw, "hostname").empty() ? target.host : first(raw, "hostname");
  settings.user = !target.user.empty() ? target.user : first(raw, "user").empty() ? environment.user : first(raw, "user");
  const auto port = target.port != 0 ? std::optional(target.port) : raw.count("port") == 0 ? std::optional<std::uint16_t>(22) : parse_port(first(raw, "port"));
  if (!port) {
    return fail(Errc::usage, "ssh_config gives " + target.host + " the port " + first(raw, "port") + ", which is none", "correct Port in ssh_config");
  }
  settings.port = *port;
  settings.host_key_alias = expand(first(raw, "hostkeyalias"), settings, environment);
  settings.identity_files = expand_all(raw, "identityfile", settings, environment);
  if (raw.count("identityfile") == 0) {
    settings.identity_files = default_identities(environment);
  }
  if (!target.identity_file.empty()) {
    settings.identity_files = {expand(target.identity_file, settings, environment)};
  }
  settings.certificate_files = expand_all(raw, "certificatefile", settings, environment);
  settings.identities_only = yes(raw, "identitiesonly");
  settings.identity_agent = agent_socket(raw, settings, environment);
  settings.user_known_hosts = files(raw.count("userknownhostsfile") == 0 ? "~/.ssh/known_hosts" : first(raw, "userknownhostsfile"), settings, environment);
  settings.global_known_hosts =
      files(raw.count("globalknownhostsfile") == 0 ? "/etc/ssh/ssh_known_hosts" : first(raw, "globalknownhostsfile"), settings, environment);
  settings.strict_host_key_checking = raw.count("stricthostkeychecking") == 0 ? "ask" : first(raw, "stricthostkeychecking");
  settings.hash_known_hosts = yes(raw, "hashknownhosts");
  settings.proxy_jump = target.jump.empty() ? first(raw, "proxyjump") : target.jump == "none" ? "" : target.jump;
  settings.proxy_command = target.jump.empty() ? first(raw, "proxycommand") : "";
  const std::string connect_timeout = first(raw, "connecttimeout");  // "none" and nonsense: not set
  std::from_chars(connect_timeout.data(), connect_timeout.data() + connect_timeout.size(), settings.connect_timeout_s);
  return settings;
}

Result<plan::SshTarget> parse_hop(std::string_view text) {
  const std::string whole(text);
  plan::SshTarget hop;
  if (text.starts_with("ssh://")) {
    text.remove_prefix(6);
  }
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    hop.user = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[') && text.find(']') != std::string_view::npos) {
    const auto close = text.find(']');
    hop.host = text.substr(1, close - 1);
    port = text.substr(close + 1);
  } else {
    // More than one colon without brackets is an IPv6 address.
    const auto colon = text.find(':') == text.rfind(':') ? std::min(text.find(':'), text.size()) : text.size();
    hop.host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (!port.empty()) {
    const auto number = port[0] == ':' ? parse_port(port.substr(1)) : std::nullopt;
    if (!number) {
      return fail(Errc::usage, "the jump host `" + whole + "` has no valid port", "write user@host:port");
    }
    hop.port = *number;
  }
  if (hop.host.empty() || hop.host[0] == '-') {
    return fail(Errc::usage, "the jump host `" + whole + "` names no host", "write user@host:port");
  }
  return hop;
}

Result<std::vector<plan::SshTarget>> parse_jump(std::string_view list) {
  std::vector<plan::SshTarget> hops;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    auto hop = parse_hop(text::trim(list.substr(0, comma)));
    if (!hop) {
      return tl::unexpected<Error>(hop.error());
    }
    hops.push_back(std::move(*hop));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return hops;
}

}  // namespace sskj::ssh
