#include "run_record.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "environment.hpp"
#include "loaded.hpp"
#include "sskj/core/text.hpp"

namespace sskj::app {
namespace {

// A run belongs to a profile under the name the user gave it then, and to its deployment under any name.
struct Wanted {
  std::string profile, deployment;  // deployment: empty where the profile cannot be loaded (any more)
  std::optional<Error> fault;

  [[nodiscard]] bool takes(const run::RunInfo& info) const {
    return profile.empty() || info.profile == profile || info.deployment == profile || (!deployment.empty() && info.deployment == deployment);
  }
};

Wanted wanted_runs(const Request& request) {
  Wanted wanted{request.profile, {}, {}};
  if (request.profile.empty()) return wanted;
  auto loaded = load_profile(request, request.profile);
  if (!loaded) {
    wanted.fault = std::move(loaded.error());
  } else {
    wanted.deployment = loaded->deployment.name;
  }
  return wanted;
}

}  // namespace

std::string runs_directory() { return state_home() + "/sskj/runs"; }

run::JournalOptions journal_options(const Request& request, const std::string& run) {
  run::JournalOptions options;
  options.state_directory = state_home() + "/sskj";
  options.run = run;
  options.command = request.command_line;
  options.pid = getpid();
  options.now = wall_clock;
  return options;
}

run::PruneLimits prune_limits(const Getenv& env, std::string& fault) {
  run::PruneLimits limits;
  constexpr std::uint64_t k_most = 1'000'000'000;
  const auto number = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto text = env(name);
    if (!text || text->empty()) return std::nullopt;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc{} && end == text->data() + text->size() && value > 0 && value <= k_most) return value;
    fault += (fault.empty() ? "" : "; ") + std::string(name) + "=" + *text + " is not a whole number above 0";
    return std::nullopt;
  };
  if (const auto runs = number("SSKJ_KEEP_RUNS")) limits.max_runs = *runs;
  if (const auto days = number("SSKJ_KEEP_DAYS")) limits.max_age = static_cast<std::int64_t>(*days) * 24 * 3600;
  if (const auto mib = number("SSKJ_KEEP_MIB")) limits.max_bytes = *mib << 20U;
  return limits;
}

std::optional<std::string> prune_old_runs(const std::string& keep) {
  std::string fault;
  const run::PruneLimits limits = prune_limits(get_env, fault);
  const run::Pruned pruned = run::prune_runs(runs_directory(), wall_millis() / 1000, limits, keep);
  if (pruned.fault) fault += (fault.empty() ? "" : "; ") + pruned.fault->message;
  return fault.empty() ? std::nullopt : std::optional<std::string>("old run directories: " + fault);
}

Result<std::vector<run::RunRecord>> chosen_runs(const Request& request) {
  Wanted wanted = wanted_runs(request);
  std::vector<run::RunRecord> records;
  for (const std::string& id : run::list_runs(runs_directory())) {
    run::RunRecord record = run::read_run(runs_directory(), id);
    if (wanted.takes(record.info)) records.push_back(std::move(record));
  }
  if (records.empty() && wanted.fault) return tl::unexpected<Error>(std::move(*wanted.fault));
  return records;
}

Result<run::RunRecord> find_run(const Request& request, const std::string& name) {
  const std::string directory = runs_directory();
  const std::vector<std::string> ids = run::list_runs(directory);
  if (name == "latest") {
    const Wanted wanted = wanted_runs(request);
    for (const std::string& id : ids) {
      run::RunRecord record = run::read_run(directory, id);
      if (wanted.takes(record.info)) return record;
    }
    if (wanted.fault) return tl::unexpected<Error>(*wanted.fault);
    return fail(Errc::usage, request.profile.empty() ? "there is no run in " + directory : "no run of " + request.profile + " is in " + directory,
                "`sskj history` lists the runs; XDG_STATE_HOME says where they are kept");
  }
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return run::read_run(directory, name);
  const auto near = text::nearest(name, ids);
  return fail(Errc::usage, "there is no run " + name + " in " + directory, near ? "did you mean `sskj attach " + *near + "`?" : "`sskj history` lists the runs");
}

}  // namespace sskj::app
