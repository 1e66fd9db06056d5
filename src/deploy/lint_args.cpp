// Lints on the engine's arguments.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lint_rules.hpp"
#include "sskj/core/text.hpp"

namespace sskj::deploy::rules {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

unsigned number(const std::vector<FoundArg>& found) {
  unsigned value = 1;
  if (!found.empty()) {
    const std::string& text = found.back().value;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() ? value : 0;
  }
  return value;
}

unsigned tensor_parallel(const Group& group) { return number(args(group, {"--tp-size", "--tp", "--tensor-parallel-size"})); }
unsigned pipeline_parallel(const Group& group) { return number(args(group, {"--pp-size", "--pp", "--pipeline-parallel-size"})); }

bool engine(const Group& group) {
  const RoleRow* role = find_role(group.role);
  return role != nullptr && role->needs_model;
}

// Models that think, by what their name holds (lower case), and the parsers they need; empty = any.
struct Thinking {
  std::string_view model, reasoning, tools;
};
constexpr Thinking k_thinking[] = {
    {"kimi-k3", "kimi_k3", "kimi_k3"}, {"kimi_k3", "kimi_k3", "kimi_k3"},     {"kimi-k2-thinking", "kimi_k2", "kimi_k2"},
    {"deepseek-r1", "", ""},           {"deepseek-v4", "", ""},               {"qwen3", "", ""},
    {"glm-4.", "", ""},                {"gpt-oss", "", ""},
};

const Thinking* thinking(const Group& group) {
  const std::string name = lower(group.model_path.substr(group.model_path.rfind('/') + 1)) + " " + lower(group.served_model);
  const auto it = std::find_if(std::begin(k_thinking), std::end(k_thinking), [&](const Thinking& t) { return name.find(t.model) != std::string::npos; });
  return it == std::end(k_thinking) ? nullptr : it;
}

void one_parser(Diagnostics& out, const Deployment& deployment, const LintRow& row, const Group& group, const char* option, std::string_view want) {
  const auto found = args(group, {option});
  const FoundArg* given = last(found);
  const std::string write = fmt::format("add {} {} to LAUNCH_ARGS", option, want.empty() ? "<the model's parser>" : want);
  if (given == nullptr) {
    out.push_back(say(row, at(deployment, group, "launch_args"),
                      fmt::format("group {}: {} thinks, and {} is not set: answers carry raw channel markers", group.name, group.served_model, option), write));
  } else if (!want.empty() && given->value != want) {
    out.push_back(say(row, arg_at(deployment, group, given->index),
                      fmt::format("group {}: {} {} does not fit {}", group.name, option, text::printable(given->value), group.served_model), write));
  }
}

}  // namespace

Diagnostics flashkda(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    for (std::size_t i = 0; i < group.launch_args.size(); ++i) {
      if (lower(group.launch_args[i]).find("flashkda") != std::string::npos) {
        out.push_back(say(row, arg_at(deployment, group, i), fmt::format("group {}: the flashkda backend fails at 4 to 8 concurrent requests", group.name),
                          "--linear-attn-prefill-backend triton is as fast on this card"));
      }
    }
  }
  return out;
}

Diagnostics parallel_size(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    const auto nodes = static_cast<unsigned>(group.ranks.size());
    const unsigned tp = tensor_parallel(group), pp = pipeline_parallel(group);
    if (!engine(group) || nodes == 0) {
      continue;
    }
    const auto found = args(group, {"--tp-size", "--tp", "--tensor-parallel-size"});
    const SourceRef where = found.empty() ? at(deployment, group, "launch_args") : arg_at(deployment, group, found.back().index);
    if (tp == 0 || pp == 0) {
      out.push_back(say(row, where, fmt::format("group {}: the tensor or pipeline parallel size is not a number", group.name), "--tp-size N --pp-size N"));
      continue;
    }
    const std::uint64_t world = static_cast<std::uint64_t>(tp) * pp;
    const unsigned gpus = group.preflight.gpus_per_node;
    if (world % nodes != 0) {
      out.push_back(say(row, where, fmt::format("group {}: tp {} x pp {} is not divisible by {} nodes: the engine refuses to start", group.name, tp, pp, nodes),
                        fmt::format("a multiple of {}", nodes)));
    } else if (gpus != 0 && world != static_cast<std::uint64_t>(nodes) * gpus) {
      out.push_back(say(row, where, fmt::format("group {}: tp {} x pp {} is not {} nodes x {} GPUs = {}", group.name, tp, pp, nodes, gpus, nodes * gpus),
                        "make them equal, or correct GPUS_PER_NODE"));
    }
  }
  return out;
}

Diagnostics parsers_missing(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    const Thinking* model = engine(group) ? thinking(group) : nullptr;
    if (model != nullptr) {
      one_parser(out, deployment, row, group, "--reasoning-parser", model->reasoning);
      one_parser(out, deployment, row, group, "--tool-call-parser", model->tools);
    }
  }
  return out;
}

Diagnostics remote_code_missing(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    const bool kimi = lower(group.model_path + " " + group.served_model).find("kimi") != std::string::npos;
    if (engine(group) && kimi && args(group, {"--trust-remote-code"}).empty()) {
      out.push_back(say(row, at(deployment, group, "launch_args"), fmt::format("group {}: Kimi's tokenizer is code beside the weights", group.name),
                        "add --trust-remote-code to LAUNCH_ARGS"));
    }
  }
  return out;
}

Diagnostics dist_timeout_missing(const Deployment& deployment, const LintRow& row) {
  Diagnostics out;
  for (const Group& group : deployment.groups) {
    if (multi_node(group) && tensor_parallel(group) >= 16 && args(group, {"--dist-timeout"}).empty()) {
      out.push_back(say(row, at(deployment, group, "launch_args"),
                        fmt::format("group {}: {} ranks wait at most torch's 10 minutes for the slowest one", group.name, tensor_parallel(group)),
                        "add --dist-timeout 3600 to LAUNCH_ARGS; --watchdog-timeout does not change it"));
    }
  }
  return out;
}

}  // namespace sskj::deploy::rules
