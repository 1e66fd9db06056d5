#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "load.hpp"
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

}  // namespace
}  // namespace sskj::deploy
