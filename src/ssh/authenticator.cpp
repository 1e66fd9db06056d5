#include "authenticator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sskj/core/shell.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

namespace {

std::string_view blob_of(const libssh2_agent_publickey* key) { return {reinterpret_cast<const char*>(key->blob), key->blob_len}; }

bool connection_is_gone(int error) {
  return error == LIBSSH2_ERROR_SOCKET_DISCONNECT || error == LIBSSH2_ERROR_SOCKET_RECV || error == LIBSSH2_ERROR_SOCKET_SEND;
}

constexpr bool k_degraded = LIBSSH2_VERSION_NUM < 0x010b01;

}  // namespace

Authenticator::Authenticator(LIBSSH2_SESSION* session, std::string label, const Settings& settings, const std::string& farewell)
    : session_(session), label_(std::move(label)), farewell_(farewell), settings_(settings) {}

Authenticator::~Authenticator() {
  if (agent_ != nullptr) {
    libssh2_agent_disconnect(agent_);
    libssh2_agent_free(agent_);
  }
}

/// The agent's socket is blocking in libssh2; listing is quick, and a key that asks for confirmation stalls the loop until it is answered (documented).
void Authenticator::connect_agent() {
  if (settings_.identity_agent.empty()) {
    return;
  }
  agent_ = libssh2_agent_init(session_);
  if (agent_ == nullptr) {
    return;
  }
  libssh2_agent_set_identity_path(agent_, settings_.identity_agent.c_str());
  if (libssh2_agent_connect(agent_) != 0) {
    agent_trouble_ = "no agent answers at " + settings_.identity_agent;
    libssh2_agent_free(agent_);
    agent_ = nullptr;
    return;
  }
  if (libssh2_agent_list_identities(agent_) != 0) {
    agent_trouble_ = "the agent at " + settings_.identity_agent + " lists no keys";
    return;
  }
  libssh2_agent_publickey* key = nullptr;
  while (libssh2_agent_get_identity(agent_, &key, key) == 0) {
    agent_keys_.push_back(key);
  }
}

void Authenticator::add_agent_keys() {
  const auto add = [this](libssh2_agent_publickey* key) {
    candidates_.push_back({key, fmt::format("agent key {}", fingerprint(blob_of(key))), {}, {}});
  };
  const auto belongs = [](libssh2_agent_publickey* key, const Identity& identity) { return !identity.blob.empty() && blob_of(key) == identity.blob; };
  for (const auto& identity : identities_) {
    for (auto* key : agent_keys_) {
      if (belongs(key, identity)) {
        add(key);
      }
    }
  }
  for (auto* key : agent_keys_) {
    const bool listed = std::any_of(identities_.begin(), identities_.end(), [&](const Identity& identity) { return belongs(key, identity); });
    if (!listed && !settings_.identities_only) {
      add(key);
    }
  }
}

void Authenticator::add_files() {
  for (const auto& identity : identities_) {
    const bool in_agent =
        !identity.blob.empty() && std::any_of(agent_keys_.begin(), agent_keys_.end(), [&](auto* key) { return blob_of(key) == identity.blob; });
    if (identity.kind != Identity::Kind::private_key || in_agent) {
      continue;
    }
    if (!identity.certificate.empty()) {
      candidates_.push_back({nullptr, identity.certificate, identity.path, identity.certificate});
    }
    for (const auto& certificate : settings_.certificate_files) {
      candidates_.push_back({nullptr, certificate, identity.path, certificate});
    }
    candidates_.push_back({nullptr, identity.path, identity.path, {}});
  }
}

void Authenticator::prepare() {
  prepared_ = true;
  for (const auto& path : settings_.identity_files) {
    identities_.push_back(load_identity(path));
  }
  connect_agent();
  add_agent_keys();
  add_files();
}

int Authenticator::offer(const Candidate& candidate) {
  if (candidate.agent_key != nullptr) {
    return libssh2_agent_userauth(agent_, settings_.user.c_str(), candidate.agent_key);
  }
  const char* public_file = candidate.public_file.empty() ? nullptr : candidate.public_file.c_str();
  return libssh2_userauth_publickey_fromfile_ex(session_, settings_.user.c_str(), static_cast<unsigned int>(settings_.user.size()), public_file,
                                                candidate.private_file.c_str(), nullptr);
}

Authenticator::Step Authenticator::step() {
  if (!prepared_) {
    prepare();
  }
  while (next_ < candidates_.size()) {
    const int rc = offer(candidates_[next_]);
    if (rc == 0) {
      return Step::done;
    }
    if (rc == LIBSSH2_ERROR_EAGAIN) {
      return Step::again;
    }
    refused_.push_back(candidates_[next_].name);
    ++next_;
    if (connection_is_gone(rc) || !farewell_.empty()) {
      cut_off_ = true;
      break;
    }
  }
  return Step::failed;
}

std::string Authenticator::current() const { return next_ < candidates_.size() ? candidates_[next_].name : ""; }

Error Authenticator::error() const {
  const std::string destination =
      (settings_.port == 22 ? "" : fmt::format("-p {} ", settings_.port)) + shell::quote(settings_.user + "@" + settings_.original);
  Error error{Errc::auth, fmt::format("{} refused the login as {}", label_, settings_.user), {}};
  std::vector<std::string> notes;
  std::string encrypted;
  for (const auto& identity : identities_) {
    switch (identity.kind) {
      case Identity::Kind::encrypted:
        if (std::none_of(agent_keys_.begin(), agent_keys_.end(), [&](auto* key) { return blob_of(key) == identity.blob; })) {
          encrypted = encrypted.empty() ? identity.path : encrypted;
          notes.push_back(identity.path + " is encrypted and not in an agent");
        }
        break;
      case Identity::Kind::security_key: notes.push_back(identity.path + " is a security key, which only --ssh=openssh can use"); break;
      case Identity::Kind::unreadable: notes.push_back(identity.path + " cannot be read as a key"); break;
      case Identity::Kind::missing:
        if (settings_.identity_files.size() == 1) {
          notes.push_back(identity.path + " does not exist");
        }
        break;
      case Identity::Kind::private_key:
      case Identity::Kind::public_only: break;
    }
  }
  if (!refused_.empty()) {
    error.message += fmt::format(": it took none of {}", fmt::join(refused_, ", "));
  } else {
    error.message += ": there is no key to offer";
  }
  if (cut_off_) {
    notes.push_back(fmt::format("it hung up{}{}; when the right key comes late in the list (MaxAuthTries), name it with IdentityFile and IdentitiesOnly",
                                farewell_.empty() ? "" : ": ", farewell_));
  }
  if (!agent_trouble_.empty()) {
    notes.push_back(agent_trouble_);
  }
  if (k_degraded) {
    notes.push_back("this build's libssh2 is older than 1.11.1 and cannot use RSA keys");
  }
  if (!notes.empty()) {
    error.message += fmt::format(" ({})", fmt::join(notes, "; "));
  }
  const auto usable = std::find_if(identities_.begin(), identities_.end(), [](const Identity& i) { return i.kind == Identity::Kind::private_key; });
  error.hint = !encrypted.empty() ? fmt::format("ssh-add {}; if the node does not know the key yet: ssh-copy-id -i {}.pub {}", shell::quote(encrypted), shell::quote(encrypted), destination)
               : usable != identities_.end() ? fmt::format("ssh-copy-id -i {}.pub {}", shell::quote(usable->path), destination)
                                             : fmt::format("ssh-keygen -t ed25519 && ssh-copy-id {}", destination);
  return error;
}

}  // namespace sskj::ssh
