// How a target resolves, as `sskj ssh explain` tells it: the way and why, each field with its origin, and what is known of its keys; with the real `ssh -G`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "world.hpp"

namespace sskj::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Strings = std::vector<std::string>;

constexpr std::uint16_t k_port = 2222;

class Explain : public ::testing::Test {
 protected:
  Result<ssh::Explanation> ask(const ssh::Options& options, const plan::SshTarget& target) {
    Result<ssh::Explanation> answer = fail(Errc::internal, "not answered");
    int answers = 0;
    ssh::explain(loop, options, target, [&](Result<ssh::Explanation> got) {
      answer = std::move(got);
      ++answers;
    });
    EXPECT_EQ(answers, 0) << "answered inside the call";
    EXPECT_TRUE(run_until(loop, [&] { return answers > 0; }));
    EXPECT_EQ(answers, 1);
    return answer;
  }
  /// The same, where an answer is due; with the world's ssh_config.
  ssh::Explanation explained(const plan::SshTarget& target) { return explained(target, world.options()); }
  ssh::Explanation explained(const plan::SshTarget& target, const ssh::Options& options) {
    auto answer = ask(options, target);
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    return answer ? *answer : ssh::Explanation{};
  }
  void expect_error(const ssh::Options& options, const plan::SshTarget& target, Errc code, const std::string& text) {
    const auto answer = ask(options, target);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code) << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(text));
  }
  static plan::SshTarget target(const std::string& host, std::uint16_t port = 0) {
    plan::SshTarget to;
    to.host = host;
    to.port = port;
    return to;
  }
  /// "VALUE (ORIGIN)", or "" where the field is not shown.
  static std::string field(const ssh::Explanation& explanation, const std::string& name) {
    for (const auto& each : explanation.fields) {
      if (each.name == name) {
        return each.value + " (" + each.origin + ")";
      }
    }
    return "";
  }
  static Strings notes_about(const ssh::Explanation& explanation, const std::string& beginning) {
    Strings out;
    for (const auto& note : explanation.notes) {
      if (note.starts_with(beginning)) {
        out.push_back(note);
      }
    }
    return out;
  }
  /// A host key at 127.0.0.1, port k_port: nothing need listen there.
  Sshd host_key(const std::string& name) {
    Sshd server;
    server.port = k_port;
    server.host_key = world.key(name);
    return server;
  }

  net::Loop loop;
  World world;
};

TEST_F(Explain, Way_and_why) {
  world.config("Host proxied\n  HostName 127.0.0.1\n  ProxyCommand nc %h %p\n");
  auto found = explained(target("127.0.0.1", k_port));
  EXPECT_EQ(found.way, ssh::Way::ssh2);
  EXPECT_EQ(found.why, "the default");
  found = explained(target("localhost"));
  EXPECT_EQ(found.way, ssh::Way::local);
  EXPECT_EQ(found.why, "its address is one of this machine");
  found = explained(target("proxied"));
  EXPECT_EQ(found.way, ssh::Way::openssh);
  EXPECT_EQ(found.why, "ssh_config sets a ProxyCommand for it");
  EXPECT_EQ(field(found, "ProxyCommand"), "nc %h %p (ssh_config)");
  auto options = world.options();
  options.way = ssh::Way::ssh2;
  found = explained(target("localhost"), options);
  EXPECT_EQ(found.way, ssh::Way::ssh2);
  EXPECT_EQ(found.why, "chosen by --ssh");
}

TEST_F(Explain, Fields_of_the_target_win_and_the_rest_is_of_ssh_config) {
  world.config("Host rack\n  HostName 127.0.0.9\n  Port 1\n  User nobody\n  IdentityFile " + world.path("theirs") + "\n  ProxyJump theirs\n");
  auto rack = target("rack", k_port);
  rack.user = "operator";
  rack.identity_file = world.path("ours");
  rack.jump = "me@bastion:2200";
  const auto found = explained(rack);
  EXPECT_EQ(field(found, "HostName"), "127.0.0.9 (ssh_config)");
  EXPECT_EQ(field(found, "Port"), "2222 (target)");
  EXPECT_EQ(field(found, "User"), "operator (target)");
  EXPECT_EQ(field(found, "IdentityFile"), world.path("ours") + " (target)");
  EXPECT_EQ(field(found, "ProxyJump"), "me@bastion:2200 (target)");
}

TEST_F(Explain, Fields_of_ssh_config) {
  world.config("Host rack\n  HostName 127.0.0.9\n  Port 2022\n  User nobody\n  IdentityFile ~/k1\n  IdentityFile " + world.path("k2") + "\n  CertificateFile " + world.path("c") +
               "\n  IdentitiesOnly yes\n  HostKeyAlias rack-7\n  StrictHostKeyChecking accept-new\n  ProxyJump me@bastion\n  IdentityAgent " + world.path("agent") + "\n");
  const auto found = explained(target("rack"));
  EXPECT_EQ(field(found, "HostName"), "127.0.0.9 (ssh_config)");
  EXPECT_EQ(field(found, "Port"), "2022 (ssh_config)");
  EXPECT_EQ(field(found, "User"), "nobody (ssh_config)");
  EXPECT_EQ(field(found, "IdentityFile"), world.path("k1") + " " + world.path("k2") + " (ssh_config)");
  EXPECT_EQ(field(found, "CertificateFile"), world.path("c") + " (ssh_config)");
  EXPECT_EQ(field(found, "IdentitiesOnly"), "yes (ssh_config)");
  EXPECT_EQ(field(found, "IdentityAgent"), world.path("agent") + " (ssh_config)");
  EXPECT_EQ(field(found, "HostKeyAlias"), "rack-7 (ssh_config)");
  EXPECT_EQ(field(found, "UserKnownHostsFile"), world.path("known_hosts") + " (ssh_config)");
  EXPECT_EQ(field(found, "StrictHostKeyChecking"), "accept-new (ssh_config)");
  EXPECT_EQ(field(found, "ProxyJump"), "me@bastion (ssh_config)");
  EXPECT_EQ(field(found, "GlobalKnownHostsFile"), "") << "set to none";
}

TEST_F(Explain, Fields_that_nobody_set_are_defaults) {
  auto options = world.options();
  options.config_file = world.path("empty");
  write_file(options.config_file, "");
  const auto found = explained(target("192.0.2.1"), options);
  EXPECT_EQ(field(found, "HostName"), "192.0.2.1 (default)");
  EXPECT_EQ(field(found, "Port"), "22 (default)");
  EXPECT_EQ(field(found, "User"), options.environment.user + " (default)");
  EXPECT_EQ(field(found, "IdentitiesOnly"), "no (default)");
  EXPECT_EQ(field(found, "StrictHostKeyChecking"), "ask (default)");
  EXPECT_THAT(field(found, "IdentityFile"), StartsWith(world.path(".ssh/id_rsa ")));
  EXPECT_THAT(field(found, "UserKnownHostsFile"), EndsWith("/.ssh/known_hosts2 (default)")) << "OpenSSH itself puts the home in, that of the account";
  for (const char* name : {"CertificateFile", "IdentityAgent", "HostKeyAlias", "ProxyJump", "ProxyCommand"}) {
    EXPECT_EQ(field(found, name), "");
  }
  for (const auto& each : found.fields) {
    EXPECT_EQ(each.origin, "default") << each.name;
  }
}

TEST_F(Explain, Known_hosts_lines_are_noted_with_fingerprint_place_and_marker) {
  const auto known = host_key("ed25519"), revoked = host_key("rsa"), authority = host_key("ecdsa");
  const std::string file = world.path("known_hosts");
  world.known_host(known);
  write_file(file, "# ours\n" + read_file(file) + "@revoked * " + read_file(revoked.host_key + ".pub") + "@cert-authority *,!other " + read_file(authority.host_key + ".pub"));
  EXPECT_THAT(notes_about(explained(target("127.0.0.1", k_port)), "host key: "),
              ElementsAre("host key: ED25519 " + fingerprint(known.host_key) + " in " + file + ":2", "host key: revoked RSA " + fingerprint(revoked.host_key) + " in " + file + ":3",
                          "host key: certificate authority (not used) ECDSA " + fingerprint(authority.host_key) + " in " + file + ":4"));
}

TEST_F(Explain, Host_key_is_looked_up_by_its_alias_and_where_it_is_pinned) {
  const auto server = host_key("ed25519");
  write_file(world.path("pinned"), "rack-7 " + read_file(server.host_key + ".pub"));
  world.config("Host *\n  HostKeyAlias rack-7\n");
  auto options = world.options();
  options.host_keys = ssh::HostKeyPolicy::pinned;
  options.pinned_known_hosts = world.path("pinned");
  EXPECT_THAT(notes_about(explained(target("127.0.0.1", k_port), options), "host key: "),
              ElementsAre("host key: ED25519 " + fingerprint(server.host_key) + " in " + world.path("pinned") + ":1"));
}

TEST_F(Explain, Host_key_that_is_not_known_says_what_will_happen) {
  auto options = world.options();
  EXPECT_THAT(explained(target("127.0.0.1", k_port), options).notes, Contains("host key: none known for [127.0.0.1]:2222; the first one will be added"));
  options.host_keys.reset();  // ssh_config decides: its default asks, and nobody can be asked
  EXPECT_THAT(explained(target("127.0.0.1", k_port), options).notes, Contains("host key: none known for [127.0.0.1]:2222; the connection will be refused"));
}

TEST_F(Explain, Known_hosts_line_that_cannot_be_read_is_noted) {
  write_file(world.path("known_hosts"), "192.0.2.1 ssh-rsa nonsense\n@maybe * ssh-ed25519 AAAA\n");
  const auto notes = explained(target("127.0.0.1", k_port)).notes;
  EXPECT_THAT(notes, Contains(world.path("known_hosts") + ":1: the line holds no key of the type it names"));
  EXPECT_THAT(notes, Contains(world.path("known_hosts") + ":2: the marker @maybe is not known"));
}

TEST_F(Explain, Each_kind_of_identity_file_is_noted) {
  const std::string usable = world.key("ed25519"), encrypted = world.key("encrypted"), half = world.path("half"), broken = world.path("broken"), missing = world.path("missing");
  write_file(half + ".pub", read_file(world.key("rsa") + ".pub"));
  write_file(broken, "no key\n");
  const auto note_of = [&](const std::string& path) {
    auto to = target("127.0.0.1", k_port);
    to.identity_file = path;
    return notes_about(explained(to), "key ");
  };
  EXPECT_THAT(note_of(usable), ElementsAre("key " + usable + ": usable, " + fingerprint(usable)));
  EXPECT_THAT(note_of(encrypted), ElementsAre("key " + encrypted + ": encrypted: usable through an agent only, " + fingerprint(encrypted)));
  EXPECT_THAT(note_of(half), ElementsAre("key " + half + ": public half only: usable through an agent, " + fingerprint(half)));
  EXPECT_THAT(note_of(broken), ElementsAre("key " + broken + ": cannot be read as a key"));
  EXPECT_THAT(note_of(missing), ElementsAre("key " + missing + ": does not exist"));
}

TEST_F(Explain, Missing_files_among_several_identities_are_not_noted) {
  ASSERT_EQ(::mkdir(world.path(".ssh").c_str(), 0700), 0);
  const std::string mine = world.path(".ssh/id_ed25519"), key = world.key("ed25519");
  write_file(mine, read_file(key));
  EXPECT_THAT(notes_about(explained(target("127.0.0.1", k_port)), "key "), ElementsAre("key " + mine + ": usable, " + fingerprint(key)));
}

TEST_F(Explain, Bad_target_and_broken_ssh_config_are_usage_errors) {
  expect_error(world.options(), target("-oProxyCommand=touch " + world.path("never")), Errc::usage, "is no host name");
  expect_error(world.options(), target(""), Errc::usage, "is no host name");
  world.config("Hostt *\n");
  expect_error(world.options(), target("rack"), Errc::usage, "ssh_config cannot be used for rack: ");
}

TEST_F(Explain, Ssh_config_that_takes_too_long_is_a_timeout) {
  world.config("Match exec \"sleep 5\"\n  Port 1\n");
  auto options = world.options();
  options.timeouts.resolve = run::Millis(300);
  expect_error(options, target("rack"), Errc::timeout, "did not end within 300 ms");
}

TEST_F(Explain, Without_an_ssh_program_it_is_said_once_and_only_the_target_counts) {
  world.config("Host rack\n  HostName 127.0.0.9\n");
  auto options = world.options();
  options.environment.path = world.path("nowhere");
  Strings warnings;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  const auto found = explained(target("rack", k_port), options);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("no ssh program")));
  EXPECT_EQ(field(found, "HostName"), "rack (default)");
  EXPECT_EQ(field(found, "Port"), "2222 (target)");
}

}  // namespace
}  // namespace sskj::test
