// Authenticator: public key authentication in OpenSSH's order: agent keys that belong to an IdentityFile, other agent keys, then key files. Never a prompt.
#pragma once

#include <libssh2.h>

#include <string>
#include <vector>

#include "identity.hpp"
#include "sskj/core/result.hpp"
#include "sskj/ssh/config.hpp"

namespace sskj::ssh {

class Authenticator {
 public:
  enum class Step { again, done, failed };

  Authenticator(LIBSSH2_SESSION* session, std::string label, const Settings& settings, const std::string& farewell);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  Step step();
  /// Which keys were offered, which could not be, and the next command.
  Error error() const;
  std::string current() const;   ///< what is being tried, for a timeout's message

 private:
  struct Candidate {
    libssh2_agent_publickey* agent_key = nullptr;  ///< owned by agent_
    std::string name;                              ///< for messages
    std::string private_file, public_file;
  };
  void prepare();
  void connect_agent();
  void add_agent_keys();
  void add_files();
  int offer(const Candidate& candidate);

  LIBSSH2_SESSION* session_;
  std::string label_;
  const std::string& farewell_;   ///< set by the session when the server disconnects
  Settings settings_;
  LIBSSH2_AGENT* agent_ = nullptr;
  std::vector<libssh2_agent_publickey*> agent_keys_;
  std::vector<Identity> identities_;
  std::vector<Candidate> candidates_;
  std::size_t next_ = 0;
  bool prepared_ = false;
  bool cut_off_ = false;          ///< the server hung up (MaxAuthTries)
  std::string agent_trouble_;
  std::vector<std::string> refused_;
};

}  // namespace sskj::ssh
