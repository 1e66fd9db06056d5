#include "sskj/app/app.hpp"

#include <csignal>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "attach.hpp"
#include "detach.hpp"
#include "environment.hpp"
#include "execute.hpp"
#include "history.hpp"
#include "loaded.hpp"
#include "profile_verbs.hpp"
#include "selection.hpp"
#include "sskj/app/request.hpp"
#include "sskj/app/verbs.hpp"
#include "sskj/core/text.hpp"
#include "sskj/recipes/recipes.hpp"
#include "sskj/view/diagnostics.hpp"
#include "sskj/view/tables.hpp"
#include "version.hpp"

namespace sskj::app {
namespace {

recipes::Request recipe_request(const Request& request) {
  recipes::Request wanted;
  wanted.verb = request.verb == "plan" ? "start" : request.verb;
  wanted.ensure = request.ensure;
  wanted.adopt = request.adopt;
  wanted.yes = request.yes;
  wanted.reason = request.reason;
  if (request.timeout) wanted.timeout = *request.timeout;
  wanted.follow = request.follow;
  wanted.tail = request.tail;
  wanted.since = request.since;
  wanted.rank = request.rank;
  wanted.command = request.words;
  wanted.pattern = request.name;
  return wanted;
}

// A plan for hosts that no profile names: exec -l HOSTS, stop --force -l HOSTS --name PATTERN.
Result<plan::Plan> bare_plan(const Request& request) {
  auto hosts = bare_hosts(request.limit, request.exclude);
  if (!hosts) return tl::unexpected<Error>(std::move(hosts.error()));
  return request.force ? recipes::make_force_stop_plan(std::move(*hosts), recipe_request(request))
                       : recipes::make_exec_plan(std::move(*hosts), recipe_request(request));
}

ExitCode run_on_deployment(const Request& request, view::Output& output) {
  auto loaded = load_profile(request, request.profile);
  if (!loaded) return report(request, output, loaded.error());
  if (has_errors(loaded->diagnostics)) {
    return report(request, output, invalid_profile(request.profile, loaded->diagnostics), loaded->diagnostics);
  }
  if (find_verb(request.verb)->lints) {
    if (has_errors(loaded->lints)) return report(request, output, invalid_profile(request.profile, loaded->lints), loaded->lints);
    if (!request.dry_run && request.output == Output::text) view::show_diagnostics(output, view_options(request), loaded->lints, false);
  }
  recipes::Request wanted = recipe_request(request);
  if (!request.limit.empty() || !request.exclude.empty()) {
    auto chosen = select_nodes(loaded->deployment.nodes, request.limit, request.exclude);
    if (!chosen) return report(request, output, chosen.error());
    wanted.nodes = std::move(*chosen);
  }
  auto plan = recipes::make_plan(wanted, loaded->deployment);
  if (!plan) return report(request, output, plan.error());
  return execute(request, *plan, output);
}

ExitCode run_plan_verb(const Request& request, view::Output& output) {
  if (!request.profile.empty() && !request.force) return run_on_deployment(request, output);
  auto plan = bare_plan(request);
  return plan ? execute(request, *plan, output) : report(request, output, plan.error());
}

ExitCode print_plan(const Request& request, view::Output& output) {
  Request dry = request;
  dry.dry_run = true;
  return run_on_deployment(dry, output);
}

ExitCode apply_saved(const Request& request, view::Output& output) {
  if (request.words.size() != 1) return report(request, output, Error{Errc::usage, "apply takes one file", "sskj plan -p NAME -o json > FILE; sskj apply FILE"});
  auto text = read_file(request.words.front());
  if (!text) return report(request, output, text.error());
  auto plan = plan::plan_from_json(*text);
  if (!plan) {
    plan.error().message = request.words.front() + ": " + plan.error().message;
    return report(request, output, plan.error());
  }
  return execute(request, *plan, output);
}

ExitCode explain_host(const Request& request, view::Output& output) {
  if (request.words.size() != 1) return report(request, output, Error{Errc::usage, "ssh explain takes one host", ""});
  auto hosts = bare_hosts(request.words.front(), "");
  if (!hosts) return report(request, output, hosts.error());
  net::Loop loop;
  Result<ssh::Explanation> answer = fail(Errc::internal, "no answer");
  ssh::explain(loop, ssh_options(request, [&](const std::string& note) { view::show_note(output, view_options(request), note); }), hosts->front().ssh, [&](Result<ssh::Explanation> got) {
    answer = std::move(got);
    loop.stop();
  });
  loop.run();
  if (!answer) return report(request, output, answer.error());
  view::KeyValues values{{"way", answer->why}};
  for (const ssh::Explanation::Field& field : answer->fields) values.emplace_back(field.name, field.value + "  (" + field.origin + ")");
  for (std::size_t i = 0; i < answer->notes.size(); ++i) values.emplace_back("note " + std::to_string(i + 1), answer->notes[i]);
  view::show_values(output, view_options(request), values);
  return ExitCode::done;
}

ExitCode show_version(const Request& request, view::Output& output) {
  view::show_values(output, view_options(request), version_values());
  return ExitCode::done;
}

// table: what runs for a verb; verbs without a row of their own make a plan and run it.
struct Handler {
  std::string_view verb;
  ExitCode (*run)(const Request&, view::Output&);
};
constexpr std::array k_handlers{Handler{"plan", print_plan},
                                Handler{"apply", apply_saved},
                                Handler{"attach", attach},
                                Handler{"history", history},
                                Handler{"profile list", profile_list},
                                Handler{"profile show", profile_show},
                                Handler{"profile lint", profile_lint},
                                Handler{"profile import", profile_import},
                                Handler{"profile docs", profile_docs},
                                Handler{"ssh explain", explain_host},
                                Handler{"version", show_version}};

ExitCode dispatch(const Request& request, view::Output& output) {
  if (is_detached(request)) return run_detached(request, output);
  for (const Handler& handler : k_handlers) {
    if (handler.verb == request.verb) return handler.run(request, output);
  }
  return run_plan_verb(request, output);
}

view::ColorChoice color_choice(const Request& request) {
  return request.color == "always" ? view::ColorChoice::always : request.color == "never" ? view::ColorChoice::never : view::ColorChoice::automatic;
}

// The answer must have arrived: a full disk behind stdout is a failure, a reader that left is not.
int finish(ExitCode code, view::Output& output) {
  const bool out = output.out.drain(view::k_drain_limit);
  output.err.drain(view::k_drain_limit);
  if (!out && output.out.error() != EPIPE && code == ExitCode::done) {
    output.err.write("error: the answer could not be written to stdout\n");
    output.err.drain(view::k_drain_limit);
    code = ExitCode::internal;
  }
  return static_cast<int>(code);
}

}  // namespace

int run(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error code, not a death
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  ParsedRequest parsed = parse_request(words, get_env);
  const Request request = parsed.request.value_or(Request{});
  view::Output output = view::system_output(color_choice(request), [](const char* name) { return get_env(name); });
  if (parsed.help) {
    view::show_text(output, parsed.help->text);
    return finish(ExitCode::done, output);
  }
  if (parsed.error) {
    Request failed;
    failed.output = parsed.output;
    return finish(report(failed, output, *parsed.error), output);
  }
  try {
    return finish(dispatch(request, output), output);
  } catch (const std::exception& fault) {
    // The one place where an exception that slipped through a module's border ends.
    return finish(report(request, output, Error{Errc::internal, std::string("internal fault: ") + text::printable(fault.what()), "please report it with the command line"}), output);
  }
}

}  // namespace sskj::app
