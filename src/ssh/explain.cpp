#include <fmt/format.h>
#include <fmt/ranges.h>

#include "connection.hpp"
#include "identity.hpp"
#include "resolver.hpp"
#include "router.hpp"
#include "sskj/net/connect.hpp"

namespace sskj::ssh {

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields fields_of(const Settings& settings) {
  return {{"HostName", settings.host},
          {"Port", std::to_string(settings.port)},
          {"User", settings.user},
          {"IdentityFile", fmt::format("{}", fmt::join(settings.identity_files, " "))},
          {"CertificateFile", fmt::format("{}", fmt::join(settings.certificate_files, " "))},
          {"IdentitiesOnly", settings.identities_only ? "yes" : "no"},
          {"IdentityAgent", settings.identity_agent},
          {"HostKeyAlias", settings.host_key_alias},
          {"UserKnownHostsFile", fmt::format("{}", fmt::join(settings.user_known_hosts, " "))},
          {"GlobalKnownHostsFile", fmt::format("{}", fmt::join(settings.global_known_hosts, " "))},
          {"StrictHostKeyChecking", settings.strict_host_key_checking},
          {"ProxyJump", settings.proxy_jump},
          {"ProxyCommand", settings.proxy_command}};
}

bool from_target(const std::string& field, const plan::SshTarget& target) {
  return (field == "Port" && target.port != 0) || (field == "User" && !target.user.empty()) || (field == "IdentityFile" && !target.identity_file.empty()) ||
         (field == "ProxyJump" && !target.jump.empty());
}

std::string_view state_of(Identity::Kind kind) {
  switch (kind) {
    case Identity::Kind::missing: return "does not exist";
    case Identity::Kind::unreadable: return "cannot be read as a key";
    case Identity::Kind::private_key: return "usable";
    case Identity::Kind::encrypted: return "encrypted: usable through an agent only";
    case Identity::Kind::public_only: return "public half only: usable through an agent";
    case Identity::Kind::security_key: return "security key: needs --ssh=openssh";
  }
  return "";
}

void add_notes(const Settings& settings, const Options& options, std::vector<std::string>& notes) {
  for (const auto& path : settings.identity_files) {
    const auto identity = load_identity(path);
    if (identity.kind != Identity::Kind::missing || settings.identity_files.size() == 1) {
      notes.push_back(fmt::format("key {}: {}{}{}", path, state_of(identity.kind), identity.blob.empty() ? "" : ", ", identity.blob.empty() ? "" : fingerprint(identity.blob)));
    }
  }
  const auto policy = host_key_policy(options, settings);
  const std::string name = known_host_name(settings.host, settings.port, settings.host_key_alias);
  bool known = false;
  const auto hosts = load_known_hosts(known_hosts_files(options, settings, policy));
  for (const auto& entry : hosts.entries) {
    if (matches_host(entry.patterns, name)) {
      known = true;
      const char* marker = entry.marker == Marker::revoked ? "revoked " : entry.marker == Marker::cert_authority ? "certificate authority (not used) " : "";
      notes.push_back(fmt::format("host key: {}{} {} in {}", marker, key_type_label(entry.type), fingerprint(entry.blob), to_string(entry.at)));
    }
  }
  if (!known) {
    notes.push_back(fmt::format("host key: none known for {}; {}", name, policy == HostKeyPolicy::accept_new ? "the first one will be added" : "the connection will be refused"));
  }
  for (const auto& problem : hosts.problems) {
    notes.push_back(fmt::format("{}: {}", to_string(problem.at), problem.message));
  }
}

/// No file, and no second saying that there is no ssh program.
Options without_config(Options options) {
  options.config_file = "none";
  options.warn = nullptr;
  return options;
}

/// Two questions: with the user's configuration, and with none; what differs comes from ssh_config.
struct Explaining : std::enable_shared_from_this<Explaining> {
  Explaining(net::Loop& loop, const Options& given, plan::SshTarget asked)
      : options(given), bare_options(without_config(given)), target(std::move(asked)), resolver(loop, options), bare(loop, bare_options) {}
  Options options, bare_options;
  plan::SshTarget target;
  Resolver resolver, bare;
  std::function<void(Result<Explanation>)> done;

  void start() {
    resolver.resolve(target, [self = shared_from_this()](const Result<Settings>& settings) {
      if (!settings) {
        self->done(tl::unexpected<Error>(settings.error()));
        return;
      }
      self->bare.resolve(self->target, [self, settings = *settings](const Result<Settings>& defaults) {
        self->done(defaults ? Result<Explanation>(self->explain(settings, *defaults)) : tl::unexpected<Error>(defaults.error()));
      });
    });
  }

  Explanation explain(const Settings& settings, const Settings& defaults) const {
    Explanation explanation;
    const auto choice = choose_way(options, settings, net::own_addresses());
    explanation.way = choice.way;
    explanation.why = choice.why;
    const auto actual = fields_of(settings), plain = fields_of(defaults);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const auto& [name, value] = actual[i];
      if (!value.empty()) {
        explanation.fields.push_back({name, value, from_target(name, target) ? "target" : value == plain[i].second ? "default" : "ssh_config"});
      }
    }
    add_notes(settings, options, explanation.notes);
    return explanation;
  }
};

}  // namespace

void explain(net::Loop& loop, const Options& options, const plan::SshTarget& target, std::function<void(Result<Explanation>)> done) {
  auto explaining = std::make_shared<Explaining>(loop, options, target);
  // The operation owns itself until it is answered; the answer is posted, so that it is not destroyed inside its own call.
  explaining->done = [&loop, keep = explaining, done = std::move(done)](Result<Explanation> result) {
    loop.post([keep, done, result = std::move(result)]() mutable {
      keep->done = nullptr;
      done(std::move(result));
    });
  };
  explaining->start();
}

}  // namespace sskj::ssh
