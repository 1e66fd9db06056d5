#include "sskj/ssh/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "resolver.hpp"

namespace sskj::ssh {
namespace {

Environment environment() {
  Environment e;
  e.home = "/home/me";
  e.user = "me";
  e.agent_socket = "/run/agent";
  return e;
}

Settings settings(const std::string& output, plan::SshTarget target = {}) {
  if (target.host.empty()) {
    target.host = "node1";
  }
  const auto made = make_settings(parse_ssh_g(output), target, environment());
  EXPECT_TRUE(made);
  return made.value_or(Settings{});
}

TEST(SshGTest, Answer_becomes_settings) {
  const auto s = settings(
      "host node1\nuser root\nhostname 10.0.0.1\nport 2200\nidentityfile ~/.ssh/a\nidentityfile /k/%r@%h\ncertificatefile ~/c\nidentitiesonly yes\nidentityagent none\n"
      "userknownhostsfile /home/me/.ssh/known_hosts /home/me/.ssh/known_hosts2\nglobalknownhostsfile none\nstricthostkeychecking accept-new\nhostkeyalias rack-%h\n"
      "hashknownhosts yes\nproxyjump a@b:3\nconnecttimeout 5\n");
  EXPECT_EQ(s.host, "10.0.0.1");
  EXPECT_EQ(s.original, "node1");
  EXPECT_EQ(s.user, "root");
  EXPECT_EQ(s.port, 2200);
  EXPECT_EQ(s.identity_files, (std::vector<std::string>{"/home/me/.ssh/a", "/k/root@10.0.0.1"}));
  EXPECT_EQ(s.certificate_files, std::vector<std::string>{"/home/me/c"});
  EXPECT_TRUE(s.identities_only);
  EXPECT_EQ(s.identity_agent, "");
  EXPECT_EQ(s.user_known_hosts, (std::vector<std::string>{"/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2"}));
  EXPECT_TRUE(s.global_known_hosts.empty());
  EXPECT_EQ(s.strict_host_key_checking, "accept-new");
  EXPECT_EQ(s.host_key_alias, "rack-10.0.0.1");
  EXPECT_TRUE(s.hash_known_hosts);
  EXPECT_EQ(s.proxy_jump, "a@b:3");
  EXPECT_EQ(s.connect_timeout_s, 5);
}

TEST(SshGTest, Fields_of_the_target_win) {
  plan::SshTarget target{"node1", "alice", 77, "~/own", "none", false};
  const auto s = settings("user root\nport 2200\nidentityfile ~/.ssh/a\nproxyjump b\nproxycommand nc %h %p\n", target);
  EXPECT_EQ(s.user, "alice");
  EXPECT_EQ(s.port, 77);
  EXPECT_EQ(s.identity_files, std::vector<std::string>{"/home/me/own"});
  EXPECT_EQ(s.proxy_jump, "");
  EXPECT_EQ(s.proxy_command, "");
}

TEST(SshGTest, Without_an_answer_there_are_defaults) {
  const auto s = settings("");
  EXPECT_EQ(s.host, "node1");
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.port, 22);
  EXPECT_EQ(s.identity_files.size(), 3U);
  EXPECT_EQ(s.identity_agent, "/run/agent");
  EXPECT_EQ(s.user_known_hosts, std::vector<std::string>{"/home/me/.ssh/known_hosts"});
}

TEST(SshGTest, IdentityAgent_forms) {
  EXPECT_EQ(settings("identityagent SSH_AUTH_SOCK\n").identity_agent, "/run/agent");
  EXPECT_EQ(settings("identityagent ~/agent\n").identity_agent, "/home/me/agent");
  EXPECT_EQ(settings("identityagent $SSKJ_NO_SUCH_VARIABLE\n").identity_agent, "");
}

TEST(SshGTest, Port_that_is_none_is_an_error) {
  for (const char* port : {"0", "70000", "x", "22x", ""}) {
    plan::SshTarget target;
    target.host = "node1";
    const auto made = make_settings(RawSettings{{"port", port}}, target, environment());
    ASSERT_FALSE(made) << port;
    EXPECT_EQ(made.error().code, Errc::usage);
  }
}

// Hops ---------------------------------------------------------------------------------------------------------------------------------------------

TEST(HopTest, All_written_forms) {
  const auto check = [](const std::string& text, const std::string& user, const std::string& host, std::uint16_t port) {
    const auto hop = parse_hop(text);
    ASSERT_TRUE(hop) << text;
    EXPECT_EQ(hop->user, user) << text;
    EXPECT_EQ(hop->host, host) << text;
    EXPECT_EQ(hop->port, port) << text;
  };
  check("bastion", "", "bastion", 0);
  check("me@bastion", "me", "bastion", 0);
  check("me@bastion:2222", "me", "bastion", 2222);
  check("ssh://me@bastion:2222", "me", "bastion", 2222);
  check("[2001:db8::1]:22", "", "2001:db8::1", 22);
  check("2001:db8::1", "", "2001:db8::1", 0);
  check("user@realm@host", "user@realm", "host", 0);
}

TEST(HopTest, Nonsense_is_refused) {
  for (const char* text : {"", "me@", "host:", "host:0", "host:port", "-oProxyCommand=x", "me@-x", "host:1:2x"}) {
    EXPECT_EQ(parse_hop(text).has_value(), std::string(text) == "host:1:2x") << text;
  }
}

TEST(HopTest, List_keeps_its_order) {
  const auto hops = parse_jump("a, b@c:1 ,[::1]:2");
  ASSERT_TRUE(hops);
  ASSERT_EQ(hops->size(), 3U);
  EXPECT_EQ((*hops)[1].host, "c");
  EXPECT_EQ((*hops)[2].host, "::1");
  EXPECT_TRUE(parse_jump("")->empty());
  EXPECT_FALSE(parse_jump("a,,b"));
}

// Scan ---------------------------------------------------------------------------------------------------------------------------------------------

ConfigScan scan(const std::string& text, std::vector<std::string>* includes = nullptr) {
  ConfigScan result;
  scan_config(text, result, [&](const std::string& pattern, bool common) {
    if (includes != nullptr) {
      includes->push_back(pattern + (common ? " common" : " own"));
    }
  });
  return result;
}

struct ScanCase {
  std::string name, text;
  bool uniform;
  std::vector<std::string> patterns;
};
class Scans : public ::testing::TestWithParam<ScanCase> {};
TEST_P(Scans, Tell_whether_one_answer_serves_all) {
  const auto result = scan(GetParam().text);
  EXPECT_EQ(result.uniform, GetParam().uniform);
  EXPECT_EQ(result.patterns, GetParam().patterns);
}
INSTANTIATE_TEST_SUITE_P(
    Table, Scans,
    ::testing::Values(ScanCase{"empty", "", true, {}}, ScanCase{"only_star", "# c\nUser root\nHost *\n  Port 22\n  IdentityFile ~/.ssh/%h\n", true, {}},
                      ScanCase{"own_section", "Host gpu1 GPU2\n  HostName 10.0.0.1\nHost *\n  User x\n", true, {"gpu1", "gpu2"}},
                      ScanCase{"negated", "Host * !gpu1\n  User x\n", true, {"gpu1"}}, ScanCase{"match", "Match exec \"true\"\n  User x\n", false, {}},
                      ScanCase{"match_all", "Match all\n  User x\n", true, {}}, ScanCase{"hostname_for_all", "Host *\n  HostName %h.rack\n", false, {}},
                      ScanCase{"hostname_before_any_host", "HostName=x\n", false, {}}, ScanCase{"hostname_after_own", "Host a\nHostName x\nHost *\nHostName y\n", false, {"a"}},
                      ScanCase{"canonical", "CanonicalizeHostname yes\n", false, {}}, ScanCase{"canonical_no", "CanonicalizeHostname no\n", true, {}},
                      ScanCase{"known_hosts_per_host", "UserKnownHostsFile ~/.ssh/known/%h\n", false, {}}, ScanCase{"quoted", "Host \"gpu 1\"=x\n", true, {"gpu 1=x"}},
                      ScanCase{"equals", "Host=gpu1\n", true, {"gpu1"}}, ScanCase{"comment_after", "Host gpu1 # gpu2\n", true, {"gpu1"}}),
    [](const auto& one) { return one.param.name; });

TEST(ScanTest, Includes_are_handed_on_with_their_place) {
  std::vector<std::string> includes;
  scan("Include a b\nHost x\n  Include c\nHost *\n  Include d\n", &includes);
  EXPECT_EQ(includes, (std::vector<std::string>{"a common", "b common", "c own", "d common"}));
}

TEST(ScanTest, Own_section_is_found_by_pattern) {
  const auto result = scan("Host gpu* 10.0.?.1\nHost *\n");
  EXPECT_TRUE(has_own_section(result, "GPU7"));
  EXPECT_TRUE(has_own_section(result, "10.0.3.1"));
  EXPECT_FALSE(has_own_section(result, "10.0.33.1"));
}

class ScanFiles : public ::testing::Test {
 protected:
  ScanFiles() {
    std::string pattern = std::filesystem::temp_directory_path() / "sskj-config-XXXXXX";
    directory = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(directory + "/.ssh/conf.d");
    e = environment();
    e.home = directory;
  }
  ~ScanFiles() override { std::filesystem::remove_all(directory); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(directory + "/" + name) << text; }
  std::string directory;
  Environment e;
};

TEST_F(ScanFiles, Includes_are_followed_by_pattern_and_home) {
  write("config", "Include conf.d/*.conf\nInclude ~/more\nInclude " + directory + "/absolute\nInclude nothing/*.here\n");
  write(".ssh/conf.d/1.conf", "Host one\n");
  write(".ssh/conf.d/2.conf", "Host two\n");
  write("more", "Host three\n");
  write("absolute", "Host four\n");
  const auto result = scan_config_files(directory + "/config", e);
  EXPECT_TRUE(result.uniform);
  EXPECT_EQ(result.patterns, (std::vector<std::string>{"one", "two", "three", "four"}));
}

TEST_F(ScanFiles, Include_that_depends_on_the_host_or_itself_is_not_uniform) {
  write("config", "Include %h.conf\n");
  EXPECT_FALSE(scan_config_files(directory + "/config", e).uniform);
  write("config", "Include " + directory + "/config\n");
  EXPECT_FALSE(scan_config_files(directory + "/config", e).uniform);
}

TEST_F(ScanFiles, No_file_is_uniform) {
  EXPECT_TRUE(scan_config_files("none", e).uniform);
  EXPECT_TRUE(scan_config_files(directory + "/missing", e).uniform);
}

TEST(QuestionTest, Target_is_never_an_option) {
  plan::SshTarget target{"node1", "alice", 77, "", "", false};
  EXPECT_EQ(ssh_g_command("ssh", "/c", target), (std::vector<std::string>{"ssh", "-G", "-T", "-F", "/c", "-l", "alice", "-p", "77", "--", "node1"}));
  EXPECT_EQ(ssh_g_command("ssh", "", {"node1", "", 0, "", "", false}), (std::vector<std::string>{"ssh", "-G", "-T", "--", "node1"}));
}

}  // namespace
}  // namespace sskj::ssh
