#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "load.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/deploy/roles.hpp"
#include "sskj/deploy/spec.hpp"

namespace sskj::deploy {
namespace {

using namespace sskj::deploy::testing;  // NOLINT(google-build-using-namespace)
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string k_shipped = std::string(SSKJ_SOURCE_DIR) + "/profiles/pro6000/kimi3_pro6000_sglang_tp32ep32.env";

TEST(Build, Shipped_profile_becomes_four_ranks) {
  const Built built = build_file(k_shipped);
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  const Deployment& d = built.deployment;
  EXPECT_EQ(d.name, "kimi3_pro6000_sglang_tp32ep32");
  ASSERT_EQ(d.groups.size(), 1U);
  ASSERT_EQ(d.groups[0].ranks.size(), 4U);
  const Rank& rank = d.groups[0].ranks[2];
  EXPECT_EQ(rank.node, "174.1.60.7");
  EXPECT_EQ(rank.data_address, "174.1.60.7");
  EXPECT_EQ(rank.spec.name, "kimi3_pro6000_sglang_tp32ep32_node2");
  EXPECT_THAT(rank.spec.env, Contains(EnvVar{"SGLANG_HOST_IP", "174.1.60.7"}));
  EXPECT_THAT(rank.spec.command,
              ElementsAre("bash", "-c", "python3 /tmp/patch_k3_sm120.py && exec \"$@\"", "sskj", "python3", "-m", "sglang.launch_server",
                          "--model-path", "/data/hf_models/Kimi-K3", "--served-model-name", "kimi-k3", "--host", "0.0.0.0", "--port", "30000",
                          "--nnodes", "4", "--node-rank", "2", "--dist-init-addr", "174.1.60.5:20000", "--tp-size", "32", "--ep-size", "32",
                          "--trust-remote-code", "--reasoning-parser", "kimi_k3", "--tool-call-parser", "kimi_k3", "--mem-fraction-static", "0.85",
                          "--dist-timeout", "3600", "--watchdog-timeout", "3600", "--linear-attn-prefill-backend", "triton", "--enable-metrics"));
}

TEST(Build, Short_name_is_the_same_deployment) {
  const Built full = build_file(k_shipped);
  const Built alias = build_file(std::string(SSKJ_SOURCE_DIR) + "/profiles/kimi3_tp32ep32.env");
  ASSERT_FALSE(has_errors(alias.diagnostics)) << report(alias.diagnostics);
  EXPECT_EQ(alias.deployment.name, full.deployment.name);
  ASSERT_EQ(alias.deployment.groups.size(), 1U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(alias.deployment.groups[0].ranks[i].spec, full.deployment.groups[0].ranks[i].spec);
  }
}

TEST(Build, Docker_run_has_every_flag_of_the_shipped_profile) {
  const Built built = build_file(k_shipped);
  const std::string command = docker_run_command(built.deployment.groups[0].ranks[0].spec);
  for (const char* part :
       {"docker run -d --name kimi3_pro6000_sglang_tp32ep32_node0", "--init", "--network host", "--ipc host", "--shm-size 34359738368", "--gpus all",
        "--device /dev/infiniband", "--cap-add IPC_LOCK", "--ulimit memlock=-1", "--ulimit stack=67108864", "--env NCCL_SOCKET_IFNAME=bond1",
        "--env GLOO_SOCKET_IFNAME=bond1", "--env NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3", "--env SGLANG_HOST_IP=174.1.60.5",
        "--mount type=bind,source=/data/hf_models/Kimi-K3,target=/data/hf_models/Kimi-K3,readonly",
        "--mount type=bind,source=/data/sskj_cache/triton,target=/root/.triton", ",target=/tmp/patch_k3_sm120.py,readonly", "--log-opt max-size=200m",
        "--label sskj.rank=0", "--label \"sskj.plan=$SSKJ_PLAN\" --label \"sskj.run=$SSKJ_RUN\" lmsysorg/sglang:kimi-k3 bash -c"}) {
    EXPECT_THAT(command, HasSubstr(part));
  }
  EXPECT_THAT(command, Not(HasSubstr("--restart")));
  EXPECT_THAT(command, Not(HasSubstr("--privileged")));
}


std::vector<std::string> errors_of(const Built& built) {
  std::vector<std::string> out;
  for (const Diagnostic& d : built.diagnostics) {
    if (d.severity == Severity::error) {
      out.push_back(to_string(d.at) + " " + d.id);
    }
  }
  return out;
}

const Rank& rank_of(const Built& built, std::size_t rank) { return built.deployment.groups.at(0).ranks.at(rank); }

TEST(Build, Reports_everything_that_is_missing_at_once) {
  const Built built = build_text("PORT=1\n");
  EXPECT_THAT(errors_of(built), ElementsAre("test.env:1:1 missing", "test.env:1:1 missing", "test.env:1:1 missing", "test.env:1:1 missing"));
  EXPECT_THAT(errors_of(build_text("NAME=x\n")), ElementsAre("test.env:1:1 missing"));
}

TEST(Build, Unknown_role_names_the_nearest) {
  const Built built = build_text(minimal("ROLE=sever\n"));
  ASSERT_THAT(errors_of(built), ElementsAre("test.env:5:1 unknown-role"));
  EXPECT_EQ(built.diagnostics[0].hint, "did you mean server?");
}

TEST(Build, Arguments_of_the_profile_that_agree_are_not_added_again) {
  const Built built = build_text(minimal("LAUNCH_ARGS='--port=30000 --model /m --nnodes 2 --dist-init-addr 10.0.0.1:20000'\n"));
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  EXPECT_THAT(rank_of(built, 1).spec.command,
              ElementsAre("python3", "-m", "sglang.launch_server", "--served-model-name", "m", "--host", "0.0.0.0", "--node-rank", "1", "--port=30000",
                          "--model", "/m", "--nnodes", "2", "--dist-init-addr", "10.0.0.1:20000"));
}

TEST(Build, Arguments_that_disagree_are_errors_at_their_own_position) {
  const Built built = build_text(minimal("LAUNCH_ARGS='\n  --port 31000\n  --served-model-name=other'\n"));
  EXPECT_THAT(errors_of(built), ElementsAre("test.env:7:3 argument-disagrees", "test.env:6:3 argument-disagrees"));
}

TEST(Build, One_node_needs_no_rendezvous) {
  const Built built = build_text("NODES=gpu-box\nIMAGE=i:1\nMODEL_PATH=/m\nSERVED_MODEL=m\n");
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  EXPECT_THAT(rank_of(built, 0).spec.command, Not(Contains("--dist-init-addr")));
  EXPECT_TRUE(rank_of(built, 0).spec.env.empty());
}

TEST(Build, Host_names_need_a_data_address) {
  EXPECT_THAT(errors_of(build_text("NODES=a,b\nIMAGE=i:1\nMODEL_PATH=/m\nSERVED_MODEL=m\nNODE_0_DATA_ADDRESS=10.0.0.1\n")),
              ElementsAre("test.env:1:7 missing"));
  const Built built = build_text("NODES=a,b\nIMAGE=i:1\nMODEL_PATH=/m\nSERVED_MODEL=m\nNODE_0_DATA_ADDRESS=fd00::1\nNODE_1_DATA_ADDRESS=fd00::2\n");
  EXPECT_THAT(rank_of(built, 1).spec.command, Contains("[fd00::1]:20000"));
  EXPECT_THAT(rank_of(built, 1).spec.env, Contains(EnvVar{"SGLANG_HOST_IP", "fd00::2"}));
  EXPECT_EQ(built.deployment.nodes.at(1).data_address, "fd00::2");
  EXPECT_EQ(built.deployment.nodes.at(1).ssh.host, "b");
}

TEST(Build, The_nearest_setting_of_a_variable_wins) {
  const Built built = build_text(minimal("ENV_NCCL_SOCKET_IFNAME=bond1\nENV_NCCL_IB_HCA=mlx5_0\nENV_SGLANG_HOST_IP=10.9.9.9\nNODE_1_NIC=ens3\nNODE_1_HCA=mlx5_7\n"
                                         "NODE_1_ENV_GLOO_SOCKET_IFNAME=ens4\n"));
  EXPECT_THAT(rank_of(built, 0).spec.env,
              ElementsAre(EnvVar{"SGLANG_HOST_IP", "10.9.9.9"}, EnvVar{"NCCL_SOCKET_IFNAME", "bond1"}, EnvVar{"NCCL_IB_HCA", "mlx5_0"}));
  EXPECT_THAT(rank_of(built, 1).spec.env, ElementsAre(EnvVar{"SGLANG_HOST_IP", "10.9.9.9"}, EnvVar{"NCCL_SOCKET_IFNAME", "ens3"},
                                                      EnvVar{"NCCL_IB_HCA", "mlx5_7"}, EnvVar{"GLOO_SOCKET_IFNAME", "ens4"}));
}

TEST(Build, An_api_key_travels_in_a_file) {
  const Built built = build_text(minimal("API_KEY=from_env:KEY\n"));
  const Group& group = built.deployment.groups.at(0);
  ASSERT_TRUE(group.api_key.has_value());
  EXPECT_EQ(group.api_key->ref, "from_env:KEY");
  EXPECT_EQ(group.api_key_path, "/var/lib/sskj/secrets/test/server.yaml");
  EXPECT_THAT(group.ranks[0].spec.mounts, Contains(Mount{"/var/lib/sskj/secrets/test/server.yaml", "/run/sskj/engine.yaml", true, false}));
  const auto& command = group.ranks[0].spec.command;
  EXPECT_EQ(command[command.size() - 2], "--config");
  EXPECT_EQ(command.back(), "/run/sskj/engine.yaml");
}

TEST(Build, A_key_on_the_command_line_is_refused_and_not_repeated) {
  for (const char* args : {"--api-key sk-123", "--api-key=sk-123", "--admin-api-key sk-123"}) {
    const Built built = build_text(minimal("LAUNCH_ARGS='" + std::string(args) + "'\n"));
    EXPECT_THAT(errors_of(built), ElementsAre("test.env:5:14 literal-secret"));
    EXPECT_EQ(report(built.diagnostics).find("sk-123"), std::string::npos);
  }
  EXPECT_THAT(errors_of(build_text(minimal("API_KEY=from_env:K\nLAUNCH_ARGS='--config /x.yaml'\n"))), ElementsAre("test.env:6:14 argument-disagrees"));
}

TEST(Build, A_secret_that_could_break_out_of_its_quotes_is_not_valid) {
  for (const char* good : {"sk-1", "a", "0x1F", "{{}}:#!"}) {
    EXPECT_TRUE(valid_secret(good)) << good;
  }
  for (const char* bad : {"", "a b", "a'b", "a\"b", "a\\b", "a\nb", "-a", "\xC3\xBC"}) {
    EXPECT_FALSE(valid_secret(bad)) << bad;
  }
  EXPECT_FALSE(valid_secret(std::string(513, 'x')));
}

TEST(Build, Several_groups_have_their_name_in_the_container) {
  const char* text = R"(
name: two
groups:
  a: {role: server, nodes: [10.0.0.1], image: "i:1", model_path: /m, served_model: m}
  b: {role: server, nodes: [10.0.0.1, 10.0.0.2], image: "i:1", model_path: /m, served_model: m, port: 30001}
)";
  const Built built = build_text(text, "two.yaml");
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  EXPECT_EQ(built.deployment.groups[1].ranks[1].spec.name, "two_b_node1");
  EXPECT_EQ(built.deployment.nodes.size(), 2U);
}

TEST(Build, A_node_is_described_once_and_holds_one_rank_of_a_group) {
  const char* text = R"(
groups:
  a: {role: server, nodes: [{host: n, user: x}, {host: n, user: x}], image: "i:1", model_path: /m, served_model: m}
  b: {role: server, nodes: [{host: n, user: y}], image: "i:1", model_path: /m, served_model: m}
)";
  EXPECT_THAT(errors_of(build_text(text, "t.yaml")), Contains("t.yaml:3:49 node-twice"));
  EXPECT_THAT(errors_of(build_text(text, "t.yaml")), Contains("t.yaml:4:29 node-disagrees"));
}

TEST(Build, Mounts_model_read_only_unless_the_profile_mounts_there) {
  EXPECT_THAT(rank_of(build_text(minimal()), 0).spec.mounts, ElementsAre(Mount{"/m", "/m", true, false}));
  EXPECT_THAT(rank_of(build_text(minimal("MOUNTS=/elsewhere:/m:ro\n")), 0).spec.mounts, ElementsAre(Mount{"/elsewhere", "/m", true, false}));
  EXPECT_THAT(errors_of(build_text(minimal("MOUNTS='/a:/x\n /b:/x'\n"))), ElementsAre("test.env:6:2 mount-twice"));
}

TEST(Build, Artifacts_are_checked_and_addressed_by_content) {
  const std::string data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/inspect/t.env";
  const std::string source = "ARTIFACT_a='source=file:fix.py target=/tmp/x.py mode=0755'\n";
  const Built built = build_text(minimal(source), data);
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  const Artifact& artifact = built.deployment.artifacts.at(0);
  EXPECT_EQ(artifact.sha256.size(), 64U);
  EXPECT_EQ(artifact.node_path, "/var/lib/sskj/artifacts/" + artifact.sha256 + "/x.py");
  EXPECT_EQ(artifact.mode, 0755U);
  EXPECT_THAT(rank_of(built, 0).spec.labels, Contains(std::pair<std::string, std::string>("sskj.artifacts", "a=" + artifact.sha256)));
  EXPECT_THAT(rank_of(built, 0).spec.mounts, Contains(Mount{artifact.node_path, "/tmp/x.py", true, false}));

  const std::string wrong = "ARTIFACT_a='source=file:fix.py sha256=" + std::string(64, '0') + "'\n";
  EXPECT_THAT(errors_of(build_text(minimal(wrong), data)), ElementsAre(HasSubstr("sha256-differs")));
  EXPECT_THAT(errors_of(build_text(minimal("ARTIFACT_a=source=file:none.py\n"), data)), ElementsAre(HasSubstr("not-found")));
}

TEST(Build, An_artifact_on_a_node_without_checksum_has_a_path_that_the_run_does_not_change) {
  const Built built = build_text(minimal("ARTIFACT_w='source=node:/data/w.whl'\nARTIFACT_v='source=node:10.0.0.2:/data/v.whl path=/srv/v.whl'\n"));
  ASSERT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  EXPECT_EQ(built.deployment.artifacts[0].source_node, "10.0.0.1");
  EXPECT_EQ(built.deployment.artifacts[0].node_path, "/var/lib/sskj/artifacts/unpinned/test/w/w.whl");
  EXPECT_EQ(built.deployment.artifacts[1].source_node, "10.0.0.2");
  EXPECT_EQ(built.deployment.artifacts[1].node_path, "/srv/v.whl");
  EXPECT_THAT(errors_of(build_text(minimal("ARTIFACT_w='source=node:10.0.0.9:/w'\n"))), ElementsAre("test.env:5:13 bad-value"));
}

std::vector<std::string> shell_words(const std::string& script) {
  std::vector<std::string> words;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(("sh -c " + shell::quote(script)).c_str(), "r"), pclose);
  std::string word;
  for (int c = fgetc(pipe.get()); c != EOF; c = fgetc(pipe.get())) {
    if (c == 0) {
      words.push_back(std::move(word));
      word.clear();
    } else {
      word += static_cast<char>(c);
    }
  }
  return words;
}

TEST(DockerRun, The_command_gives_docker_the_very_words_whatever_they_hold) {
  const Built built = build_file(std::string(SSKJ_SOURCE_DIR) + "/tests/data/inspect/profile.env");
  const ContainerSpec& spec = rank_of(built, 1).spec;
  const auto got = shell_words("SSKJ_PLAN=p; SSKJ_RUN='r 1'; docker() { printf '%s\\0' docker \"$@\"; }; " + docker_run_command(spec));
  std::vector<std::string> want;
  for (const Word& word : docker_run_words(spec)) {
    want.push_back(!word.expands ? word.text : word.text == "sskj.plan=$SSKJ_PLAN" ? "sskj.plan=p" : "sskj.run=r 1");
  }
  EXPECT_EQ(got, want);
}

TEST(DockerRun, Mounts_and_gpu_lists_are_csv_fields) {
  ContainerSpec spec;
  spec.gpus = "device=0,1";
  spec.mounts = {{"/a,b", "/c\"d", true, false}, {"/plain", "/p", false, false}};
  std::vector<std::string> words;
  for (const Word& word : docker_run_words(spec)) {
    words.push_back(word.text);
  }
  EXPECT_THAT(words, Contains("type=bind,\"source=/a,b\",\"target=/c\"\"d\",readonly"));
  EXPECT_THAT(words, Contains("type=bind,source=/plain,target=/p"));
  EXPECT_THAT(words, Contains("\"device=0,1\""));
}

TEST(DockerRun, A_bootstrap_never_swallows_the_engine) {
  for (const char* bootstrap : {"true", "true # a comment", "true\n", "true\ntrue", "true; true", "echo x >/dev/null", "'true'"}) {
    profile::Parsed parsed = parse_text(minimal());
    parsed.profile.groups.at(0).bootstrap = bootstrap;
    const Built built = build(parsed.profile, artifact_bytes);
    const auto& command = rank_of(built, 0).spec.command;
    ASSERT_EQ(command[0], "bash");
    EXPECT_THAT(shell_words("bash -c " + shell::quote(command[2]) + " sskj printf '%s\\0' 'a b' c"), ElementsAre("a b", "c")) << bootstrap;
  }
}

TEST(DockerRun, A_bootstrap_that_fails_keeps_the_engine_from_starting) {
  for (const char* bootstrap : {"false", "false # a comment", "true\nfalse"}) {
    profile::Parsed parsed = parse_text(minimal());
    parsed.profile.groups.at(0).bootstrap = bootstrap;
    const Built built = build(parsed.profile, artifact_bytes);
    EXPECT_TRUE(shell_words("bash -c " + shell::quote(rank_of(built, 0).spec.command[2]) + " sskj printf '%s\\0' started").empty()) << bootstrap;
  }
}

}  // namespace
}  // namespace sskj::deploy
