#include "leaf_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sskj::profile {

namespace {

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool hex(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool alnum(char c) { return lower(c) || upper(c) || digit(c); }
bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

template <class Predicate>
bool all(std::string_view text, Predicate predicate) {
  return std::all_of(text.begin(), text.end(), predicate);
}

bool is_ipv4(std::string_view text) {
  int parts = 0;
  while (parts < 4) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    const auto value = to_number(part);
    if (!value || *value > 255 || part.size() > 3 || (part.size() > 1 && part[0] == '0')) {
      return false;
    }
    ++parts;
    if (dot == std::string_view::npos) {
      return parts == 4;
    }
    text.remove_prefix(dot + 1);
  }
  return false;
}

// Number of 16-bit groups in a colon-separated list; -1 when it is not one.
int ipv6_groups(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  for (int groups = 0;;) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && part.find('.') != std::string_view::npos) {
      return is_ipv4(part) ? groups + 2 : -1;
    }
    if (part.empty() || part.size() > 4 || !all(part, hex)) {
      return -1;
    }
    ++groups;
    if (colon == std::string_view::npos) {
      return groups;
    }
    text.remove_prefix(colon + 1);
  }
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) {
    return ipv6_groups(text) == 8;
  }
  const int before = ipv6_groups(text.substr(0, gap)), after = ipv6_groups(text.substr(gap + 2));
  return before >= 0 && after >= 0 && before + after < 8;
}

}  // namespace

bool is_line(std::string_view text) {
  return all(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 63 && (lower(text[0]) || digit(text[0])) &&
         all(text, [](char c) { return lower(c) || digit(c) || one_of(c, "_-."); });
}

// Never a leading '-': it would be an option to ssh.
bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text[0] != '-' && all(text, [](char c) { return alnum(c) || one_of(c, "._-:%"); });
}

bool is_address(std::string_view text) { return is_ipv4(text) || is_ipv6(text); }

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 1024 && text[0] != '-' && all(text, [](char c) { return alnum(c) || one_of(c, "@%+=:,./_-^[]"); });
}

bool is_absolute_path(std::string_view text) {
  if (text.empty() || text[0] != '/' || text.size() > 4095 || !is_line(text)) {
    return false;
  }
  for (std::size_t start = 1; start <= text.size();) {
    const std::size_t end = std::min(text.find('/', start), text.size());
    if (text.substr(start, end - start) == "..") {
      return false;
    }
    start = end + 1;
  }
  return true;
}

bool is_sha256(std::string_view text) { return text.size() == 64 && all(text, hex); }

bool is_variable(std::string_view text) {
  return !text.empty() && !digit(text[0]) && all(text, [](char c) { return alnum(c) || c == '_'; });
}

bool is_secret_reference(std::string_view text) {
  if (text.starts_with("from_env:")) {
    return is_variable(text.substr(9));
  }
  return text.starts_with("from_file:") && text.size() > 10 && is_line(text);
}

bool is_artifact_source(std::string_view text) {
  if (!is_line(text) || text.size() > 4200) {
    return false;
  }
  if (text.starts_with("file:")) {
    return text.size() > 5;
  }
  if (text.starts_with("embedded:")) {
    return text.size() > 9;
  }
  if (!text.starts_with("node:")) {
    return false;
  }
  text.remove_prefix(5);
  const std::size_t slash = text.find(":/");
  if (!text.starts_with("/") && slash != std::string_view::npos) {
    return is_host(text.substr(0, slash)) && is_absolute_path(text.substr(slash + 1));
  }
  return is_absolute_path(text);
}

std::optional<std::uint64_t> to_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> to_signed(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

std::optional<bool> to_boolean(std::string_view text) {
  constexpr std::array<std::string_view, 4> k_yes = {"true", "yes", "on", "1"}, k_no = {"false", "no", "off", "0"};
  if (std::find(k_yes.begin(), k_yes.end(), text) != k_yes.end()) {
    return true;
  }
  return std::find(k_no.begin(), k_no.end(), text) != k_no.end() ? std::optional(false) : std::nullopt;
}

}  // namespace sskj::profile
