#include "version.hpp"

#include <openssl/crypto.h>

#include <boost/version.hpp>
#include <string>

#include "sskj/core/version.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::app {

view::KeyValues version_values() {
  const ssh::LibraryVersion ssh2 = ssh::libssh2_version();
  std::string ssh2_text = ssh2.version;
  if (ssh2.degraded) ssh2_text += " (degraded: older than 1.11.1, RSA user keys are refused by current OpenSSH; use ed25519 keys or --ssh openssh)";
  const std::string boost = std::to_string(BOOST_VERSION / 100000) + '.' + std::to_string(BOOST_VERSION / 100 % 1000);
  return {{"sskj", version()}, {"commit", commit()}, {"libssh2", ssh2_text}, {"openssl", OpenSSL_version(OPENSSL_VERSION_STRING)}, {"boost", boost}};
}

}  // namespace sskj::app
