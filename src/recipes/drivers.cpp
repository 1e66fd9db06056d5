// The table of judges, by the names that plans use.
#include "sskj/recipes/drivers.hpp"

#include "judges.hpp"
#include "line_matcher.hpp"
#include "sskj/checks/check.hpp"

namespace sskj::recipes {

run::Drivers drivers() {
  run::Drivers made;
  made.step_judges = {
      {"checks", checks::judge_node},     {"artifacts", judge_artifacts}, {"health", judge_health},           {"running", judge_running}, {"warm", judge_warm},
      {"models", judge_models},           {"smoke", judge_smoke},         {"status-node", judge_status_node}, {"observe", judge_observe},
  };
  made.stage_judges = {
      {"agreement", checks::judge_agreement}, {"artifacts-equal", judge_artifacts_equal}, {"locks", judge_locks},
      {"smoke", report_smoke},                {"status", report_status},                  {"must-start", judge_must_start},
      {"holders", report_holders},
  };
  made.line_matcher = make_line_matcher();
  return made;
}

}  // namespace sskj::recipes
