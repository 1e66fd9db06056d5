// table: one row a verb.
#include "sskj/app/verbs.hpp"

#include <algorithm>
#include <array>

namespace sskj::app {
namespace {

using enum VerbFlags;

constexpr std::array k_verbs{
    Verb{"start", "bring the deployment up: ready, warm and correct", VerbKind::plan, lifecycle | ensure | detach, true, false, false, false, true},
    Verb{"stop", "remove the deployment's containers and free its nodes", VerbKind::plan, lifecycle | force | detach, true, true, false},
    Verb{"restart", "stop, then start", VerbKind::plan, lifecycle | detach, true, false, false, false, true},
    Verb{"preflight", "look at the nodes, change nothing: what would stop a start", VerbKind::plan, none, true, true, false},
    Verb{"status", "what runs, and whether it is ready (exit 0 only then)", VerbKind::plan, none, true, true, false},
    Verb{"logs", "the ranks' container logs", VerbKind::plan, logs, true, true, false},
    Verb{"smoke", "ask the model list and the profile's question; exit 9 when the answer is wrong", VerbKind::plan, none, true, true, false},
    Verb{"warmup", "send the profile's long prompt once", VerbKind::plan, none, true, true, false},
    Verb{"exec", "run a command on nodes, equal output folded", VerbKind::plan, command, false, true, false},
    Verb{"plan", "the steps that start would take, byte for byte (= start --dry-run)", VerbKind::plan, lifecycle | ensure, true, false, false, false, true},
    Verb{"apply", "run a plan saved with `plan -o json`", VerbKind::plan, files | lifecycle | detach, false, false, false},
    Verb{"gc", "list what sskj left on the nodes and nothing needs any more; --yes removes it", VerbKind::plan, none, true, true, false},
    Verb{"attach", "show a run from its beginning and follow it until it ends: RUN, or latest", VerbKind::local, run, false, true, false},
    Verb{"history", "the runs of this machine: when, how long, how they ended", VerbKind::local, none, false, true, false},
    Verb{"lock status", "who holds the nodes: lock, its last beat, claim", VerbKind::plan, none, true, true, false},
    Verb{"lock release", "free the nodes from the lock of a run that is gone (needs --yes)", VerbKind::plan, none, true, true, false, true},
    Verb{"profile list", "the profiles that can be found, and where", VerbKind::local, none, false, true, false},
    Verb{"profile show", "a profile's settings; --resolved says where each came from", VerbKind::local, resolved, true, true, false},
    Verb{"profile lint", "check profiles without touching a node", VerbKind::local, files, false, true, false},
    Verb{"profile import", "turn a shell-style env profile into ours", VerbKind::local, files, false, true, false},
    Verb{"profile docs", "docs/profile.md and its JSON Schema, from the schema table", VerbKind::local, files, false, true, true},
    Verb{"ssh explain", "how a host would be reached, and which setting said so", VerbKind::local, host, false, true, false},
    Verb{"version", "version, commit and the libraries inside", VerbKind::local, none, false, true, false},
};

struct GroupTitle {
  std::string_view group, title;
};
constexpr std::array k_groups{GroupTitle{"profile", "list, show, check and import profiles"}, GroupTitle{"ssh", "how nodes are reached"},
                              GroupTitle{"lock", "who holds the nodes and how to free them"}};

}  // namespace

std::span<const Verb> verbs() { return k_verbs; }

const Verb* find_verb(std::string_view name) {
  const auto* found = std::find_if(k_verbs.begin(), k_verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  return found == k_verbs.end() ? nullptr : found;
}


std::string_view verb_group_title(std::string_view group) {
  const auto* found = std::find_if(k_groups.begin(), k_groups.end(), [&](const GroupTitle& one) { return one.group == group; });
  return found == k_groups.end() ? group : found->title;
}

}  // namespace sskj::app
