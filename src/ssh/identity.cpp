#include "identity.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>

#include "sskj/core/base64.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

namespace {

constexpr std::string_view k_openssh_begin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view k_openssh_end = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view k_magic{"openssh-key-v1\0", 15};

std::optional<std::string_view> take_string(std::string_view& bytes) {
  if (bytes.size() < 4) {
    return std::nullopt;
  }
  std::uint32_t length = 0;
  for (int i = 0; i < 4; ++i) {
    length = length << 8U | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  }
  bytes.remove_prefix(4);
  if (length > bytes.size()) {
    return std::nullopt;
  }
  const auto field = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return field;
}

Identity from_openssh(std::string_view text) {
  Identity identity;
  identity.kind = Identity::Kind::unreadable;
  const auto begin = text.find(k_openssh_begin) + k_openssh_begin.size();
  const auto end = text.find(k_openssh_end, begin);
  std::string base64(text.substr(begin, end == std::string_view::npos ? 0 : end - begin));
  base64.erase(std::remove_if(base64.begin(), base64.end(), [](char c) { return c == '\n' || c == '\r' || c == ' '; }), base64.end());
  const auto decoded = base64_decode(base64);
  if (!decoded || !std::string_view(*decoded).starts_with(k_magic)) {
    return identity;
  }
  std::string_view rest = std::string_view(*decoded).substr(k_magic.size());
  const auto cipher = take_string(rest), kdf = take_string(rest), options = take_string(rest);
  if (!cipher || !kdf || !options || rest.size() < 4) {
    return identity;
  }
  rest.remove_prefix(4);  // number of keys, always 1
  const auto blob = take_string(rest);
  if (!blob) {
    return identity;
  }
  identity.blob = *blob;
  identity.kind = *cipher == "none" ? Identity::Kind::private_key : Identity::Kind::encrypted;
  if (key_type(identity.blob).starts_with("sk-")) {
    identity.kind = Identity::Kind::security_key;
  }
  return identity;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string public_blob(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::string type, base64;
  in >> type >> base64;
  const auto blob = base64_decode(base64);
  return blob && key_type(*blob) == type ? *blob : std::string{};
}

Identity inspect_identity(std::string_view text, std::string_view public_text) {
  Identity identity;
  if (text.find(k_openssh_begin) != std::string_view::npos) {
    identity = from_openssh(text);
  } else if (text.find("-----BEGIN") != std::string_view::npos && text.find("PRIVATE KEY-----") != std::string_view::npos) {
    const bool encrypted = text.find("ENCRYPTED") != std::string_view::npos;
    identity.kind = encrypted ? Identity::Kind::encrypted : Identity::Kind::private_key;
  } else if (auto blob = public_blob(text); !blob.empty()) {
    identity.kind = Identity::Kind::public_only;
    identity.blob = std::move(blob);
  } else {
    identity.kind = Identity::Kind::unreadable;
  }
  if (identity.blob.empty()) {
    identity.blob = public_blob(public_text);
  }
  return identity;
}

Identity load_identity(const std::string& path) {
  Identity identity;
  if (::access(path.c_str(), F_OK) == 0) {
    const std::string text = read_file(path);
    identity = text.empty() ? Identity{Identity::Kind::unreadable, {}, {}, {}} : inspect_identity(text, read_file(path + ".pub"));
    if (::access((path + "-cert.pub").c_str(), R_OK) == 0) {
      identity.certificate = path + "-cert.pub";
    }
  } else if (const auto blob = public_blob(read_file(path + ".pub")); !blob.empty()) {
    identity.kind = Identity::Kind::public_only;  // only the public half is here: an agent may have the rest
    identity.blob = blob;
  }
  identity.path = path;
  return identity;
}

}  // namespace sskj::ssh
