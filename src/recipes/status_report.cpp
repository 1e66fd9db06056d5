// Reading what the nodes said. Everything here is untrusted text.
#include "status_report.hpp"

#include <algorithm>
#include <map>

#include "hold.hpp"
#include "spec_json.hpp"
#include "sskj/checks/check.hpp"
#include "sskj/core/text.hpp"
#include "sskj/recipes/recipes.hpp"

namespace sskj::recipes {
namespace {

using checks::Output;

/// A 503 that takes longer than this is the engine's own health check giving up after its 20 s (sglang.md 2.1); a quick one is warm-up or draining.
constexpr auto k_quick = std::chrono::seconds(5);

struct NodeFacts {
  Output out;
  bool asked = false;      ///< the script ran to its end
  std::string trouble;
};

/// "NAME rest" lines of `key`: the rest for this name.
std::optional<std::string> named(const Output& out, std::string_view key, const std::string& name) {
  for (const auto& line : out.values(key)) {
    if (line == name) return std::string();
    if (line.starts_with(name + " ")) return line.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<int> number_at(const Json& object, const char* path) {
  const auto at = Json::json_pointer(path);
  return object.contains(at) && object[at].is_number_integer() ? std::optional(object[at].get<int>()) : std::nullopt;
}

std::string text_at(const Json& object, const char* path) {
  const auto at = Json::json_pointer(path);
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : std::string();
}

void read_labels(const Json& inspect, RankStatus& rank) {
  const auto at = Json::json_pointer("/Config/Labels");
  if (!inspect.contains(at)) return;
  rank.run = text_of(inspect[at], "sskj.run");
  rank.plan = text_of(inspect[at], "sskj.plan");
}

void read_diff(const deploy::ContainerSpec& spec, const Output& out, const std::string& inspect, RankStatus& rank, std::vector<std::string>& problems) {
  const auto image = named(out, "image", spec.image);
  const auto blank = image ? image->find(' ') : std::string::npos;
  const auto image_id = blank == std::string::npos ? std::string() : image->substr(0, blank);
  const auto image_env = blank == std::string::npos ? std::string("[]") : image->substr(blank + 1);
  auto diff = deploy::compare(spec, inspect, image_env, image_id);
  if (diff) {
    rank.diff = std::move(*diff);
  } else {
    problems.push_back(rank.node + ": container " + rank.container + " cannot be compared: " + diff.error().message);
  }
}

void read_container(const deploy::ContainerSpec& spec, const NodeFacts& node, RankStatus& rank, std::vector<std::string>& problems) {
  if (!node.asked) return;
  if (named(node.out, "absent", spec.name)) {
    rank.state = "absent";
    return;
  }
  const auto text = named(node.out, "inspect", spec.name);
  const auto inspect = text ? Json::parse(*text, nullptr, false) : Json();
  if (!inspect.is_object()) {
    const auto said = node.out.value("nodocker");
    auto problem = said ? rank.node + ": docker does not answer: " + *said
                        : rank.node + ": docker does not say what container " + spec.name + " is: " + node.out.value("unclear").value_or("");
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(std::move(problem));
    return;
  }
  rank.state = text_at(inspect, "/State/Status");
  rank.id = text_at(inspect, "/Id");
  rank.image_id = text_at(inspect, "/Image");
  rank.started_at = text_at(inspect, "/State/StartedAt");
  rank.restarts = number_at(inspect, "/RestartCount");
  if (rank.state != "running") rank.exit_code = number_at(inspect, "/State/ExitCode");
  read_labels(inspect, rank);
  read_diff(spec, node.out, *text, rank, problems);
}

void read_health(const run::StepResult* result, RankStatus& rank) {
  if (result == nullptr) return;
  switch (seen(*result)) {
    case Seen::refused: rank.health = Health::refused; return;
    case Seen::silent:
    case Seen::unreachable: return;
    case Seen::answered: break;
  }
  rank.http_status = result->http->status;
  if (rank.http_status == 200) {
    rank.health = Health::ok;
  } else {
    rank.health = rank.http_status == 503 && result->http->elapsed < k_quick ? Health::starting : Health::failing;
  }
}

std::map<std::string, NodeFacts> node_facts(const NodeOutputs& nodes) {
  std::map<std::string, NodeFacts> facts;
  for (const auto& node : nodes) {
    if (node.result == nullptr || node.result->http || node.result->out.empty()) continue;
    NodeFacts one;
    one.out.text = node.result->out;
    one.asked = node.result->status == run::StepStatus::ok && one.out.ended();
    facts[node.result->step] = std::move(one);
  }
  for (const auto& node : nodes) {
    if (node.result == nullptr || !node.result->error || facts.contains(node.result->step)) continue;
    facts[node.result->step].trouble = node.result->error->message;
  }
  return facts;
}

const run::StepResult* result_of(const NodeOutputs& nodes, const std::string& step) {
  const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const run::NodeOutput& one) { return one.result != nullptr && one.result->step == step; });
  return at == nodes.end() ? nullptr : at->result;
}

class Reader {
 public:
  Reader(const Json& expectation, const NodeOutputs& nodes) : nodes_(nodes), facts_(node_facts(nodes)) {
    report_.deployment = expectation.value("deployment", "");
    report_.endpoint = expectation.value("endpoint", "");
    for (const auto& group : expectation.value("groups", Json::array())) read_group(group);
  }
  StatusReport take() { return std::move(report_); }

 private:
  void read_group(const Json& group) {
    GroupStatus status{group.value("name", ""), group.value("role", ""), {}};
    for (const auto& wanted : group.value("ranks", Json::array())) status.ranks.push_back(read_rank(wanted));
    report_.groups.push_back(std::move(status));
  }

  RankStatus read_rank(const Json& wanted) {
    RankStatus rank;
    rank.rank = wanted.value("rank", 0U);
    rank.node = wanted.value("node", "");
    const auto spec = spec_from_json(wanted.value("spec", Json()));
    if (!spec) {
      report_.problems.push_back(spec.error().message);
      return rank;
    }
    rank.container = spec->name;
    const auto& node = node_once(rank.node, wanted.value("node_step", ""));
    read_container(*spec, node, rank, report_.problems);
    // Without a running container whatever answers on the port is not ours.
    if (rank.state == "running") read_health(result_of(nodes_, wanted.value("health_step", "")), rank);
    note(rank);
    return rank;
  }

  const NodeFacts& node_once(const std::string& node, const std::string& step) {
    const auto& facts = facts_[step];
    if (std::find(noted_.begin(), noted_.end(), node) != noted_.end()) return facts;
    noted_.push_back(node);
    if (!facts.asked) {
      report_.not_asked.push_back(node);
      report_.problems.push_back(facts.trouble.empty() ? node + ": could not be asked" : facts.trouble);
    }
    if (auto lock = read_hold(facts.out, "lock"); !lock.empty()) report_.locks.emplace_back(node, std::move(lock));
    const auto claim = read_hold(facts.out, "claim");
    if (const auto by = text_of(claim, "deployment"); !by.empty() && by != report_.deployment) {
      report_.problems.push_back(node + ": claimed by deployment " + by + " since " + text_of(claim, "since"));
    }
    return facts;
  }

  void note(const RankStatus& rank) {
    const auto who = rank.node + ": container " + rank.container;
    if (rank.state == "running") {
      if (rank.health == Health::failing) report_.problems.push_back(who + " answers /health with " + std::to_string(rank.http_status.value_or(0)));
      if (rank.health == Health::unknown) report_.problems.push_back(who + " does not answer /health in time");
      if (rank.restarts.value_or(0) > 0) report_.problems.push_back(who + " has restarted " + std::to_string(*rank.restarts) + " times");
      if (!rank.diff.empty()) report_.problems.push_back(who + " differs from the profile in " + std::to_string(rank.diff.size()) + " fields");
    } else if (rank.state != "absent" && rank.state != "unknown") {
      report_.problems.push_back(who + " is " + rank.state + (rank.exit_code ? ", exit status " + std::to_string(*rank.exit_code) : ""));
    }
  }

  const NodeOutputs& nodes_;
  std::map<std::string, NodeFacts> facts_;
  std::vector<std::string> noted_;
  StatusReport report_;
};

}  // namespace

std::string_view to_string(Health health) {
  constexpr std::string_view k_names[] = {"ok", "starting", "refused", "failing", "unknown"};
  return k_names[static_cast<std::size_t>(health)];
}

StatusReport read_status(const Json& expectation, const NodeOutputs& nodes) { return Reader(expectation, nodes).take(); }

std::string overall(const StatusReport& report) {
  std::size_t ranks = 0, absent = 0, running = 0, healthy = 0, waiting = 0, unknown = 0;
  bool restarted = false;
  for (const auto& group : report.groups) {
    for (const auto& rank : group.ranks) {
      ++ranks;
      absent += rank.state == "absent" ? 1U : 0U;
      unknown += rank.state == "unknown" || rank.state.empty() ? 1U : 0U;
      if (rank.state != "running") continue;
      ++running;
      restarted = restarted || rank.restarts.value_or(0) > 0;
      healthy += rank.health == Health::ok ? 1U : 0U;
      waiting += rank.health == Health::starting || rank.health == Health::refused ? 1U : 0U;
    }
  }
  // A run that starts the deployment holds the lock: ranks come and go, and none of it says that something is wrong.
  const bool being_started = std::any_of(report.locks.begin(), report.locks.end(), [](const auto& held) {
    const auto* recipe = find(text_of(held.second, "verb"));
    return recipe != nullptr && !recipe->partial && !held.second.value("stale", false);
  });
  if (unknown > 0 || ranks == 0) return "unknown";
  if (being_started && !restarted && healthy < ranks) return "starting";
  if (absent == ranks) return "absent";
  if (running < ranks) return "failed";  // the world has a fixed size: without one rank none can serve
  if (restarted) return "failed";        // a restarted rank cannot join it again
  if (healthy == ranks) return "ready";
  return healthy + waiting == ranks ? "starting" : "degraded";
}

}  // namespace sskj::recipes
