// The table of verbs.
#include "sskj/recipes/recipes.hpp"

#include <algorithm>
#include <array>

#include "verbs.hpp"

namespace sskj::recipes {

std::span<const Recipe> recipes() {
  static constexpr std::array rows{
      Recipe{"start", "replace what runs and bring the deployment to a verified answer", false, make_start},
      Recipe{"restart", "the same as start: what runs is replaced", false, make_start},
      Recipe{"stop", "drain, remove containers until names and GPUs are free, give up the claim", true, make_stop},
      Recipe{"status", "what is wanted against what runs", true, make_status},
      Recipe{"logs", "logs of the ranks", true, make_logs},
      Recipe{"smoke", "ask a question whose answer is known", true, make_smoke},
      Recipe{"warmup", "send the long prompt that compiles kernels", true, make_warmup},
      Recipe{"exec", "run a command on the nodes", true, make_exec},
      Recipe{"preflight", "read-only checks", true, make_preflight},
      Recipe{"gc", "remove what sskj left and nothing needs", true, make_gc},
      Recipe{"lock status", "who holds the nodes", true, make_lock_status},
      Recipe{"lock release", "free the nodes from a lock", true, make_lock_release},
  };
  return rows;
}

const Recipe* find(std::string_view verb) {
  const auto all = recipes();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Recipe& row) { return row.verb == verb; });
  return at == all.end() ? nullptr : &*at;
}

Result<plan::Plan> make_plan(const Request& request, const deploy::Deployment& deployment) {
  const auto* recipe = find(request.verb);
  if (recipe == nullptr) return fail(Errc::usage, "there is no plan for \"" + request.verb + "\"");
  return recipe->make(request, deployment);
}

}  // namespace sskj::recipes
