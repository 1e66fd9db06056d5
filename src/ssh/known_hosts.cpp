#include "sskj/ssh/known_hosts.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "sskj/core/base64.hpp"
#include "sskj/core/text.hpp"

namespace sskj::ssh {

namespace {

constexpr std::string_view k_hash_magic = "|1|";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view next_word(std::string_view& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  const auto end = std::min(line.find_first_of(" \t", begin), line.size());
  const auto word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// Glob with * and ?; linear backtracking.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::string hmac_sha1(std::string_view key, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned int length = 0;
  HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(data.data()), data.size(), out.data(), &length);
  return {reinterpret_cast<const char*>(out.data()), length};
}

bool matches_hashed(std::string_view field, std::string_view name) {
  const auto bar = field.find('|', k_hash_magic.size());
  if (bar == std::string_view::npos) {
    return false;
  }
  const auto salt = base64_decode(field.substr(k_hash_magic.size(), bar - k_hash_magic.size()));
  const auto hash = base64_decode(field.substr(bar + 1));
  return salt && hash && hmac_sha1(*salt, name) == *hash;
}

void skip_line(KnownHosts& into, const SourceRef& at, std::string why) {
  into.problems.push_back({Severity::warning, "known-hosts-line", std::move(why), "remove or repair the line", at, {}});
}

void parse_line(std::string_view line, const SourceRef& at, KnownHosts& into) {
  KnownHost entry;
  entry.at = at;
  std::string_view word = next_word(line);
  if (word.empty() || word[0] == '#') {
    return;
  }
  if (word[0] == '@') {
    if (word == "@cert-authority") {
      entry.marker = Marker::cert_authority;
    } else if (word == "@revoked") {
      entry.marker = Marker::revoked;
    } else {
      return skip_line(into, at, "the marker " + text::printable(word) + " is not known");
    }
    word = next_word(line);
  }
  entry.patterns = word;
  entry.type = next_word(line);
  const auto blob = base64_decode(next_word(line));
  if (!blob || key_type(*blob) != entry.type) {
    return skip_line(into, at, "the line holds no key of the type it names");
  }
  entry.blob = *blob;
  into.entries.push_back(std::move(entry));
}

std::uint32_t read_u32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) {
    value = value << 8U | static_cast<unsigned char>(c);
  }
  return value;
}

struct AlgorithmsOfType {
  std::string_view type, algorithms;
};

// Most preferred first, as OpenSSH orders plain keys. RSA keys sign with SHA-2 only: ssh-rsa (SHA-1) is off in OpenSSH since 8.8.
constexpr std::array<AlgorithmsOfType, 5> k_algorithms{{{"ssh-ed25519", "ssh-ed25519"},
                                                        {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"},
                                                        {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"},
                                                        {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521"},
                                                        {"ssh-rsa", "rsa-sha2-512,rsa-sha2-256"}}};

std::string host_part(std::string_view name) {
  const auto close = name.rfind("]:");
  return name.starts_with('[') && close != std::string_view::npos ? std::string(name.substr(1, close - 1)) : std::string(name);
}

KeyCheck check_name(const KnownHosts& hosts, std::string_view name, std::string_view blob) {
  const std::string type = key_type(blob);
  std::optional<KnownHost> match, conflict, other;
  for (const auto& entry : hosts.entries) {
    if (entry.marker == Marker::cert_authority || !matches_host(entry.patterns, name)) {
      continue;
    }
    const bool same_key = entry.blob == blob;
    if (entry.marker == Marker::revoked) {
      if (same_key) {
        return {KeyVerdict::revoked, entry, false};
      }
    } else if (same_key) {
      match = match ? match : entry;
    } else if (entry.type == type) {
      conflict = conflict ? conflict : entry;
    } else {
      other = other ? other : entry;
    }
  }
  if (match) {
    return {KeyVerdict::match, match, false};
  }
  return conflict ? KeyCheck{KeyVerdict::changed, conflict, false} : KeyCheck{KeyVerdict::unknown, other, other.has_value()};
}

}  // namespace

std::string key_type(std::string_view blob) {
  if (blob.size() < 4 || read_u32(blob) > blob.size() - 4) {
    return {};
  }
  return std::string(blob.substr(4, read_u32(blob)));
}

std::string key_type_label(std::string_view type) {
  if (type == "ssh-ed25519") {
    return "ED25519";
  }
  return type == "ssh-rsa" ? "RSA" : type.starts_with("ecdsa-") ? "ECDSA" : std::string(type);
}

std::string fingerprint(std::string_view blob) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(blob.data(), blob.size(), digest.data(), &length, EVP_sha256(), nullptr);
  std::string encoded = base64_encode({reinterpret_cast<const char*>(digest.data()), length});
  encoded.erase(encoded.find_last_not_of('=') + 1);
  return "SHA256:" + encoded;
}

void parse_known_hosts(std::string_view text, const std::string& file, KnownHosts& into) {
  std::size_t number = 0;
  for (const auto& line : text::split_lines(text)) {
    parse_line(line, SourceRef{file, ++number, 0}, into);
  }
}

std::string known_host_name(std::string_view host, std::uint16_t port, std::string_view alias) {
  if (!alias.empty()) {
    return lower(alias);
  }
  return port == 22 ? lower(host) : "[" + lower(host) + "]:" + std::to_string(port);
}

bool matches_host(std::string_view patterns, std::string_view name) {
  if (patterns.starts_with(k_hash_magic)) {
    return matches_hashed(patterns, name);
  }
  bool found = false;
  while (!patterns.empty()) {
    const auto comma = std::min(patterns.find(','), patterns.size());
    std::string pattern = lower(patterns.substr(0, comma));
    patterns.remove_prefix(std::min(comma + 1, patterns.size()));
    const bool negated = pattern.starts_with('!');
    if (negated) {
      pattern.erase(0, 1);
    }
    if (glob(pattern, name)) {
      if (negated) {
        return false;
      }
      found = true;
    }
  }
  return found;
}

KeyCheck check_host_key(const KnownHosts& hosts, std::string_view name, std::string_view blob) {
  KeyCheck own = check_name(hosts, name, blob);
  const std::string plain = host_part(name);
  if (plain == name || own.verdict != KeyVerdict::unknown || own.other_type) {
    return own;
  }
  // OpenSSH takes the plain host's key for another port of the host too; a different one is unknown there, not changed: another sshd.
  KeyCheck fallback = check_name(hosts, plain, blob);
  return fallback.verdict == KeyVerdict::match || fallback.verdict == KeyVerdict::revoked ? fallback : own;
}

std::string host_key_preference(const KnownHosts& hosts, std::string_view name) {
  const std::string plain = host_part(name);
  std::set<std::string_view> known;
  for (const auto& entry : hosts.entries) {
    if (entry.marker == Marker::none && (matches_host(entry.patterns, name) || (plain != name && matches_host(entry.patterns, plain)))) {
      known.insert(entry.type);
    }
  }
  std::string first, rest;
  for (const auto& [type, algorithms] : k_algorithms) {
    auto& list = known.count(type) != 0 ? first : rest;
    list.append(list.empty() ? "" : ",").append(algorithms);
  }
  return first.empty() || rest.empty() ? first + rest : first + "," + rest;
}

}  // namespace sskj::ssh
