// Probes that need no docker, run for real; and all bodies through the shells' own parsers.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sskj/checks/check.hpp"
#include "support/shell.hpp"

namespace sskj::checks {
namespace {

using nlohmann::json;
using run::FindingStatus;

Output probe(std::string_view id, std::vector<Var> vars, const std::string& environment = "") {
  const Selected selected{find(id), {std::move(vars), "{}"}};
  const auto ran = testing::run_script(make_script({&selected, 1}), environment);
  auto records = split_records(ran.out);
  EXPECT_EQ(records.size(), 1U) << ran.out;
  return records.empty() ? Output{} : records.front().second;
}

std::vector<Var> owner() { return {{"deployment", "d"}, {"names", "d_node0"}, {"adopt", "0"}}; }

/// A listener on loopback, or a connection to it.
class Socket {
 public:
  Socket() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 4), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  std::string port() const { return std::to_string(port_); }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

FindingStatus judge_port(const std::string& port) {
  auto vars = owner();
  vars.push_back({"ports", port});
  const auto findings = find("ports")->judge(json{{"ports", {port}}}, probe("ports", vars));
  return findings.empty() ? FindingStatus::unknown : findings.front().status;
}

TEST(Probes, A_port_that_this_process_listens_on_is_held_and_free_afterwards) {
  std::string port;
  {
    const Socket held;
    port = held.port();
    // Whose the holder is can be told only where docker answers; elsewhere it might be a container of ours.
    const bool docker_answers = std::system("docker ps -q >/dev/null 2>&1") == 0;  // NOLINT(cert-env33-c): a constant line
    EXPECT_EQ(judge_port(port), docker_answers ? FindingStatus::fail : FindingStatus::unknown);
  }
  EXPECT_EQ(judge_port(port), FindingStatus::ok);
}

TEST(Probes, Mount_sources_are_looked_for_with_their_exact_names) {
  const testing::TempDir temp;
  const auto odd = (temp.path() / "a b'c\"$x").string();
  testing::write_file(odd, "x");
  const auto output = probe("mounts", {{"paths", odd + "\n/no/such/path"}});
  EXPECT_EQ(output.values("there"), std::vector<std::string>{odd});
  EXPECT_EQ(output.values("gone"), std::vector<std::string>{"/no/such/path"});
}

TEST(Probes, Loopback_is_on_lo) {
  const auto output = probe("data-address", {});
  const auto findings = find("data-address")->judge(json{{"address", "127.0.0.1"}, {"nccl", "lo"}, {"gloo", "lo"}}, output);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].status, FindingStatus::ok) << output.text;
}

TEST(Probes, Without_the_ip_command_a_local_address_is_still_found) {
  const testing::TempDir temp;  // a PATH that holds everything but ip
  for (const char* tool : {"sh", "awk", "sort", "timeout", "head"}) {
    const auto at = testing::run_command(std::string("command -v ") + tool).out;
    std::filesystem::create_symlink(at.substr(0, at.find('\n')), temp.path() / tool);
  }
  const Selected selected{find("data-address"), {}};
  auto script = make_script({&selected, 1});
  const std::string extended = "PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin";
  script.replace(script.find(extended), extended.size(), "PATH=" + temp.path().string());
  const auto records = split_records(testing::run_script(script).out);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].second.values("addr").empty(), false) << records[0].second.text;
  const auto findings = find("data-address")->judge(json{{"address", "127.0.0.1"}}, records[0].second);
  EXPECT_EQ(findings.front().status, FindingStatus::ok) << records[0].second.text;
}

TEST(Probes, Every_body_parses_and_is_read_only_at_a_glance) {
  for (const auto& check : catalog()) {
    const Selected selected{&check, {}};
    const auto script = make_script({&selected, 1});
    EXPECT_LT(script.size(), 48U << 10U) << check.id;
    const auto body = std::string(check.prelude) + "\n" + std::string(check.body);
    for (const char* shell : {"sh -n", "dash -n", "bash -n"}) {
      const auto parsed = testing::run_command(std::string(shell) + " -c " + sskj::shell::quote(body) + "; " + shell + " -c " + sskj::shell::quote(script));
      EXPECT_EQ(parsed.out, "") << check.id << " with " << shell;
    }
    for (const char* writes : {" rm ", "mkdir", "mktemp", "tee ", "docker run", "docker rm", "docker stop", " mv ", " > ", ">> "}) {
      EXPECT_EQ(body.find(writes), std::string::npos) << check.id << " has" << writes;
    }
  }
}

TEST(Probes, Shellcheck_has_nothing_to_say) {
  const auto found = testing::run_command("command -v shellcheck");
  if (found.status != 0) GTEST_SKIP() << "shellcheck is not installed: apt-get install shellcheck";
  const testing::TempDir temp;
  for (const auto& check : catalog()) {
    const auto file = temp.path() / (std::string(check.id) + ".sh");
    testing::write_file(file, std::string(check.prelude) + "\n" + std::string(check.body));
    // Variables are set by the caller; splitting of lists is meant; A && B || C is used knowingly.
    const auto said = testing::run_command("shellcheck -s sh -e SC2020,SC2154,SC2034,SC2086,SC2015,SC2329,SC2317 " + file.string());
    EXPECT_EQ(said.status, 0) << said.out;
  }
}

// A client whose daemon hangs is a process that never answers; nothing more of docker is needed here. In a trial each probe waited for it, four silent minutes in all.
TEST(Probes, A_docker_that_hangs_is_waited_for_by_one_probe_only) {
  const testing::TempDir temp;
  const auto client = temp.path() / "docker", asked = temp.path() / "asked";
  testing::write_file(client, "#!/bin/sh\necho x >>" + asked.string() + "\nexec sleep 600\n");
  ASSERT_EQ(testing::run_command("chmod +x " + client.string()).status, 0);
  Check first = *find("docker");
  first.seconds = 1;
  std::vector<Selected> selected{{&first, {}}};
  for (const auto* id : {"gpu-idle", "ports"}) {
    auto vars = owner();
    vars.push_back({"ports", "1"});
    selected.push_back({find(id), {std::move(vars), "{}"}});
  }
  const auto ran = testing::run_script(make_script(selected), "PATH=" + temp.path().string() + ":/usr/bin:/bin");
  const auto records = split_records(ran.out);
  ASSERT_EQ(records.size(), 3U) << ran.out;
  EXPECT_TRUE(records[0].second.timed_out());
  EXPECT_FALSE(records[1].second.timed_out());
  EXPECT_FALSE(records[2].second.timed_out());
  EXPECT_EQ(testing::run_command("cat " + asked.string()).out, "x\n");
}

}  // namespace
}  // namespace sskj::checks
