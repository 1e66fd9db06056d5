// What the lint functions share. One function per row of the table in lints.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/deploy/build.hpp"
#include "sskj/deploy/roles.hpp"

namespace sskj::deploy::rules {

/// One variable as a rank's container will have it. Ranks that get it from the same place make one hit.
struct EnvHit {
  const Group* group = nullptr;
  unsigned rank = 0;
  std::string value;
  SourceRef at;
};
std::vector<EnvHit> env_hits(const Deployment& deployment, std::string_view name);

/// The last value of an engine argument; null when it is not given.
const FoundArg* last(const std::vector<FoundArg>& found);
std::vector<FoundArg> args(const Group& group, std::initializer_list<std::string_view> names);
SourceRef arg_at(const Deployment& deployment, const Group& group, std::size_t index);
SourceRef at(const Deployment& deployment, const Group& group, std::string_view key);

Diagnostic say(const LintRow& row, const SourceRef& at, std::string message, std::string hint);

/// True when the group is an SGLang engine over more than one node.
bool multi_node(const Group& group);

Diagnostics nccl_algo_set(const Deployment&, const LintRow&);
Diagnostics expandable_segments(const Deployment&, const LintRow&);
Diagnostics memlock_limited(const Deployment&, const LintRow&);
Diagnostics management_interface(const Deployment&, const LintRow&);
Diagnostics interface_missing(const Deployment&, const LintRow&);
Diagnostics nccl_ib_hca_range(const Deployment&, const LintRow&);
Diagnostics rdma_device_missing(const Deployment&, const LintRow&);
Diagnostics sglang_port_set(const Deployment&, const LintRow&);
Diagnostics worker_exits(const Deployment&, const LintRow&);
Diagnostics logging_config(const Deployment&, const LintRow&);
Diagnostics no_op_variable(const Deployment&, const LintRow&);
Diagnostics secret_in_env(const Deployment&, const LintRow&);

Diagnostics flashkda(const Deployment&, const LintRow&);
Diagnostics parallel_size(const Deployment&, const LintRow&);
Diagnostics parsers_missing(const Deployment&, const LintRow&);
Diagnostics remote_code_missing(const Deployment&, const LintRow&);
Diagnostics dist_timeout_missing(const Deployment&, const LintRow&);

Diagnostics port_clash(const Deployment&, const LintRow&);
Diagnostics ephemeral_port(const Deployment&, const LintRow&);
Diagnostics host_loopback(const Deployment&, const LintRow&);
Diagnostics image_tag_mutable(const Deployment&, const LintRow&);
Diagnostics gpus_list(const Deployment&, const LintRow&);
Diagnostics restart_policy(const Deployment&, const LintRow&);
Diagnostics network_not_host(const Deployment&, const LintRow&);
Diagnostics shm_small(const Deployment&, const LintRow&);

}  // namespace sskj::deploy::rules
