#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "sskj/core/text.hpp"
#include "sskj/ssh/config.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

namespace {

constexpr int k_max_depth = 16;  // as OpenSSH

/// Words of a line: blanks or one `=` separate, double quotes keep blanks.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, any = false;
  const auto flush = [&] {
    if (any) {
      words.push_back(std::exchange(word, {}));
    }
    any = false;
  };
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (!quoted && (c == ' ' || c == '\t' || (c == '=' && words.size() + (any ? 1 : 0) == 1))) {
      flush();
    } else if (!quoted && c == '#' && !any) {
      break;
    } else {
      word += c;
      any = true;
    }
  }
  flush();
  return words;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// True when the section that begins here holds for every host (but those with a pattern of their own).
bool scan_host_line(const std::vector<std::string>& words, ConfigScan& scan) {
  bool common = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string pattern = words[i];
    pattern.erase(0, pattern.starts_with('!') ? 1 : 0);
    if (pattern == "*") {
      common = true;
    } else {
      scan.patterns.push_back(lower(pattern));
    }
  }
  return common;
}

bool depends_on_host(const std::string& keyword, const std::vector<std::string>& words) {
  const std::string value = words.size() > 1 ? lower(words[1]) : "";
  if (keyword == "hostname") {
    return true;
  }
  if (keyword == "canonicalizehostname") {
    return value != "no";
  }
  if (keyword == "userknownhostsfile" || keyword == "globalknownhostsfile" || keyword == "hostkeyalias" || keyword == "proxyjump") {
    return std::any_of(words.begin() + 1, words.end(), [](const std::string& word) { return word.find('%') != std::string::npos; });
  }
  return false;
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    return std::nullopt;
  }
  return text.str();
}

struct Scanner {
  ConfigScan& scan;
  const Environment& environment;

  void file(const std::string& path, const std::string& base, int depth, bool common = true) {
    const auto text = read_file(path);
    if (text) {
      scan_config(
          *text, scan, [&](const std::string& pattern, bool inside_common) { include(pattern, base, depth, inside_common); }, common);
    } else if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), R_OK) != 0) {
      scan.uniform = false;
    }
  }

  void include(std::string pattern, const std::string& base, int depth, bool common) {
    if (depth >= k_max_depth || pattern.find('%') != std::string::npos || pattern.find('$') != std::string::npos) {
      scan.uniform = false;
      return;
    }
    if (pattern.starts_with("~/")) {
      pattern = environment.home + pattern.substr(1);
    } else if (!pattern.starts_with('/')) {
      pattern = base + "/" + pattern;
    }
    ::glob_t found{};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        file(found.gl_pathv[i], base, depth + 1, common);
      }
    }
    ::globfree(&found);
  }
};

/// The home directory in /etc/passwd, which OpenSSH uses whatever $HOME says; empty when the account is not listed there.
std::string passwd_home() {
  const auto text = read_file("/etc/passwd");
  const std::string uid = std::to_string(::getuid());
  for (const auto& line : text::split_lines(text.value_or(""))) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ':');) {
      fields.push_back(field);
    }
    if (fields.size() >= 6 && fields[2] == uid) {
      return fields[5];
    }
  }
  return {};
}

}  // namespace

void scan_config(std::string_view text, ConfigScan& scan, const IncludeFn& include, bool common) {
  for (const auto& line : text::split_lines(text)) {
    const auto words = split_words(line);
    if (words.empty()) {
      continue;
    }
    const std::string keyword = lower(words[0]);
    if (keyword == "host") {
      common = scan_host_line(words, scan);
    } else if (keyword == "include") {
      std::for_each(words.begin() + 1, words.end(), [&](const std::string& pattern) { include(pattern, common); });
    } else if (keyword == "match") {
      common = true;
      scan.uniform = scan.uniform && words.size() > 1 && lower(words[1]) == "all";
    } else if (common && depends_on_host(keyword, words)) {
      scan.uniform = false;
    }
  }
}

ConfigScan scan_config_files(const std::string& config_file, const Environment& environment) {
  ConfigScan scan;
  Scanner scanner{scan, environment};
  const std::string user_base = environment.home + "/.ssh";
  if (!config_file.empty()) {
    if (config_file != "none") {
      scanner.file(config_file, user_base, 0);
    }
    return scan;
  }
  scanner.file(user_base + "/config", user_base, 0);
  if (const auto home = passwd_home(); !home.empty() && home != environment.home) {
    scanner.file(home + "/.ssh/config", home + "/.ssh", 0);
  }
  scanner.file("/etc/ssh/ssh_config", "/etc/ssh", 0);
  return scan;
}

bool has_own_section(const ConfigScan& scan, std::string_view host) {
  const std::string name = lower(std::string(host));
  return std::any_of(scan.patterns.begin(), scan.patterns.end(), [&](const std::string& pattern) { return matches_host(pattern, name); });
}

}  // namespace sskj::ssh
