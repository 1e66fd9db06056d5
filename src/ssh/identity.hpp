// What a key file is, without decrypting it. Pure on its text.
#pragma once

#include <string>
#include <string_view>

namespace sskj::ssh {

struct Identity {
  enum class Kind { missing, unreadable, private_key, encrypted, public_only, security_key };
  Kind kind = Kind::missing;
  std::string path;
  std::string blob;         ///< public key, where it can be told: the OpenSSH format holds it in the clear, else the .pub file beside it
  std::string certificate;  ///< path of PATH-cert.pub, if there is one
};

/// `text` of the key file, `public_text` of its .pub ("" = none).
Identity inspect_identity(std::string_view text, std::string_view public_text);
/// The same for a path.
Identity load_identity(const std::string& path);

/// Second word of a `type base64 comment` line, decoded; empty when it is not one.
std::string public_blob(std::string_view line);

}  // namespace sskj::ssh
