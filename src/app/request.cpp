#include "sskj/app/request.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "sskj/app/verbs.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/core/text.hpp"
#include "sskj/profile/schema.hpp"

namespace sskj::app {
namespace {

// Texts that CLI11 fills and that are turned into typed values afterwards, so that every fault is one Error with a hint.
struct Raw {
  std::string output = "text";
  bool json = false;
  std::string timeout;
  std::vector<std::string> set;
  std::string rank;
  std::string tail;
};

std::string env_name(const std::string& flag) {
  std::string name = "SSKJ_";
  for (const char c : flag) name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void add_global_flags(CLI::App& app, Request& request, Raw& raw) {
  app.add_option("-p,--profile", request.profile, "Profile: a name (kimi3_tp32ep32) or a path");
  app.add_flag("-n,--dry-run", request.dry_run, "Print each step's exact bytes; touch nothing");
  app.add_option("-o,--output", raw.output, "text | json | ndjson")->check(CLI::IsMember({"text", "json", "ndjson"}));
  app.add_flag("--json", raw.json, "Same as -o json");
  app.add_option("-l,--limit", request.limit, "Only these nodes, e.g. 174.1.60.[5-6]");
  app.add_option("-x,--exclude", request.exclude, "Not these nodes");
  app.add_option("-f,--fanout", request.fanout, "Nodes worked on at once")->check(CLI::Range(1, 1024));
  app.add_flag("-y,--yes", request.yes, "Do not ask");
  app.add_flag("-v,--verbose", request.verbose, "More on the terminal; up to -vvv");
  app.add_flag("-q,--quiet", request.quiet, "Failures and the summary only");
  app.add_option("--timeout", raw.timeout, "Deadline of the whole command, e.g. 90s, 15m");
  app.add_option("--color", request.color, "auto | always | never")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--set", raw.set, "Override one profile setting: KEY=VALUE (repeatable)")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--variant", request.variants, "Apply a named overlay of the profile (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--profiles-dir", request.profiles_dir, "Look for profiles here first");
  app.add_option("--ssh", request.ssh, "auto | ssh2 (built in) | openssh (the system's ssh)")->check(CLI::IsMember({"auto", "ssh2", "openssh"}));
  app.add_option("--ssh-config", request.ssh_config, "ssh_config file instead of the user's");
  app.add_option("--host-keys", request.host_keys, "auto (as ssh_config says) | strict | accept-new")->check(CLI::IsMember({"auto", "strict", "accept-new"}));
  app.add_flag("--direct", request.direct, "HTTP straight to the nodes' data addresses, not through SSH");
}

void add_verb_flags(CLI::App& app, const Verb& verb, Request& request, Raw& raw) {
  if (has(verb.flags, VerbFlags::lifecycle)) {
    app.add_flag("--keep-failed", request.keep_failed, "Leave containers that failed to start for inspection");
    app.add_flag("--adopt", request.adopt, "Take over containers that carry our name but not our label");
    app.add_option("--reason", request.reason, "Why, kept in the lock");
  }
  if (has(verb.flags, VerbFlags::ensure)) app.add_flag("--ensure", request.ensure, "Keep a healthy, unchanged deployment as it is");
  if (has(verb.flags, VerbFlags::force)) {
    app.add_flag("--force", request.force, "Without lock and label, by name pattern (needs -l and --name)");
    app.add_option("--name", request.name, "Container name pattern for --force, e.g. kimi3_*");
  }
  if (has(verb.flags, VerbFlags::detach)) {
    app.add_flag("--detach", request.detach, "Go on in the background, whatever becomes of this terminal; `sskj attach RUN` follows it");
    app.add_option(std::string(k_detached_flag), request.detached_run)->group("");
  }
  if (has(verb.flags, VerbFlags::logs)) {
    app.add_flag("-F,--follow", request.follow, "Go on until interrupted");
    app.add_option("--tail", raw.tail, "Last N lines of each rank (default 100; all)");
    app.add_option("--since", request.since, "Only lines since, e.g. 10m or 2026-11-30T10:00:00Z");
    app.add_option("--rank", raw.rank, "Only this rank");
  }
  if (has(verb.flags, VerbFlags::resolved)) app.add_flag("--resolved", request.resolved, "Say which source won for each setting");
  if (has(verb.flags, VerbFlags::command)) {
    app.add_flag("--prefix", request.prefix, "Stream `node: line` instead of folding equal output");
    app.add_option("command", request.words, "Command and its arguments")->required();
    app.positionals_at_end();
    app.prefix_command(false);
  }
  if (has(verb.flags, VerbFlags::files)) app.add_option("file", request.words, "File")->required();
  if (has(verb.flags, VerbFlags::host)) app.add_option("host", request.words, "Host")->required();
  if (has(verb.flags, VerbFlags::run)) app.add_option("run", request.words, "Id of a run (`sskj history` lists them), or latest")->required()->expected(1);
}

// SSKJ_* twins of the long flags, for options that the command line left unset.
std::optional<Error> apply_environment(CLI::App& app, const Getenv& env) {
  for (CLI::Option* option : app.get_options()) {
    // What has no description is between sskj and itself, and no user's variable may reach it.
    if (option->get_lnames().empty() || option->count() > 0 || option->get_lnames().front() == "help" || option->get_description().empty()) continue;
    const std::string name = env_name(option->get_lnames().front());
    auto value = env(name);
    if (!value && name == "SSKJ_DRY_RUN") value = env("DRY_RUN");
    if (!value || value->empty()) continue;
    try {
      if (option->get_items_expected_max() == 0) {  // a flag
        const std::string word = CLI::detail::to_lower(*value);
        if (word == "0" || word == "false" || word == "no" || word == "off") continue;
        if (word != "1" && word != "true" && word != "yes" && word != "on" && name != "SSKJ_VERBOSE") {
          return Error{Errc::usage, name + "=" + *value + " is not a switch", "use 1 or 0"};
        }
        option->add_result(word == "true" || word == "yes" || word == "on" ? "1" : word);
      } else {
        option->add_result(*value);
      }
      option->run_callback();
    } catch (const CLI::Error& fault) {
      return Error{Errc::usage, "environment variable " + name + ": " + fault.what(), "see `sskj --help`"};
    }
  }
  return std::nullopt;
}

Error bad_set(const std::string& text) {
  const std::string key = text.starts_with('=') ? "" : text;
  const auto near = profile::nearest_env_key(key);
  return {Errc::usage, "--set '" + text + "': KEY=VALUE is expected", "write --set " + near.value_or("PORT") + "=VALUE" + (near ? "" : ", e.g. --set PORT=30001; docs/profile.md has all keys")};
}

std::optional<Error> finish(Request& request, const Raw& raw, Output& output) {
  output = raw.json || raw.output == "json" ? Output::json : raw.output == "ndjson" ? Output::ndjson : Output::text;
  request.output = output;
  if (!raw.timeout.empty()) {
    auto parsed = text::parse_duration(raw.timeout);
    if (!parsed) return Error{Errc::usage, "--timeout: " + parsed.error().message, parsed.error().hint};
    request.timeout = *parsed;
  }
  for (const std::string& one : raw.set) {
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) return bad_set(one);
    const std::string key = one.substr(0, equals);
    request.set.push_back({key, one.substr(equals + 1), SourceRef{"--set " + key, 0, 0}, profile::Origin::flag});
  }
  const auto number = [](const std::string& text) -> std::optional<unsigned> {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return static_cast<unsigned>(std::stoul(text));
  };
  if (!raw.rank.empty()) {
    request.rank = number(raw.rank);
    if (!request.rank) return Error{Errc::usage, "--rank '" + raw.rank + "' is not a rank", "ranks count from 0"};
  }
  if (!raw.tail.empty()) {
    const auto lines = raw.tail == "all" ? std::optional<unsigned>(0) : number(raw.tail);
    if (!lines || (*lines == 0 && raw.tail != "all")) return Error{Errc::usage, "--tail '" + raw.tail + "' is not a number of lines", "write e.g. 200, or all"};
    request.tail = *lines;
  }
  return std::nullopt;
}

std::optional<Error> check_combination(const Verb& verb, const Request& request) {
  const std::string name(verb.name);
  if (request.force && (request.limit.empty() || request.name.empty())) {
    return Error{Errc::usage, "stop --force needs the nodes and a name pattern", "sskj stop --force -l NODES --name 'PATTERN'"};
  }
  if (!request.name.empty() && !request.force) return Error{Errc::usage, "--name goes with --force", ""};
  if (verb.needs_profile && request.profile.empty() && !request.force) {
    return Error{Errc::usage, name + " needs a profile", "sskj " + name + " --profile kimi3_tp32ep32; `sskj profile list` shows what there is"};
  }
  if (verb.needs_yes && !request.yes && !request.dry_run) {
    return Error{Errc::usage, name + " takes the lock away from whoever holds it, also from a run that lives",
                 "see who that is with `sskj status -p " + request.profile + "`, then repeat with --yes"};
  }
  if (!verb.partial && (!request.limit.empty() || !request.exclude.empty())) {
    return Error{Errc::usage, name + " acts on whole groups: -l and -x are not for it", "a world of fixed size cannot start in part"};
  }
  if (request.quiet && request.verbose > 0) return Error{Errc::usage, "-q and -v exclude each other", ""};
  return std::nullopt;
}

Error unknown_verb(std::span<const std::string> argv) {
  std::vector<std::string> names{"help"};
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  std::string word;
  for (const std::string& one : argv) {
    if (!one.starts_with('-')) {
      word = one;
      break;
    }
  }
  const auto near = text::nearest(word, names);
  std::string hint = near ? "did you mean `sskj " + *near + "`?" : "`sskj --help` lists the commands";
  return Error{Errc::usage, word.empty() ? "a command is missing" : "'" + word + "' is not a command of sskj", std::move(hint)};
}

struct Leaf {
  const Verb* verb = nullptr;
  CLI::App* app = nullptr;
};

std::vector<Leaf> add_verbs(CLI::App& root, Request& request, Raw& raw) {
  std::vector<Leaf> leaves;
  std::map<std::string, CLI::App*> groups;
  for (const Verb& verb : verbs()) {
    const std::string name(verb.name);
    const std::size_t blank = name.find(' ');
    CLI::App* parent = &root;
    if (blank != std::string::npos) {
      CLI::App*& group = groups[name.substr(0, blank)];
      if (group == nullptr) {
        group = root.add_subcommand(name.substr(0, blank), std::string(verb_group_title(name.substr(0, blank))));
        group->require_subcommand(1);
      }
      parent = group;
    }
    CLI::App* leaf = parent->add_subcommand(blank == std::string::npos ? name : name.substr(blank + 1), std::string(verb.title));
    if (verb.hidden) leaf->group("");
    add_global_flags(*leaf, request, raw);
    add_verb_flags(*leaf, verb, request, raw);
    leaves.push_back({&verb, leaf});
  }
  root.require_subcommand(1);
  return leaves;
}

Output wanted_output(std::span<const std::string> argv) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i] == "--") break;
    if (argv[i] == "--json" || argv[i] == "--output=json" || argv[i] == "-ojson") return Output::json;
    if (argv[i] == "--output=ndjson" || argv[i] == "-ondjson") return Output::ndjson;
    if ((argv[i] == "-o" || argv[i] == "--output") && i + 1 < argv.size()) {
      if (argv[i + 1] == "json") return Output::json;
      if (argv[i + 1] == "ndjson") return Output::ndjson;
    }
  }
  return Output::text;
}

// CLI11 would take the options of the remote command for its own: what follows the first word that is not ours is the command, as with ssh and kubectl exec.
std::vector<std::string> protect_command(std::span<const std::string> argv) {
  std::vector<std::string> out(argv.begin(), argv.end());
  if (out.empty() || out.front() != "exec") return out;
  static constexpr std::array<std::string_view, 18> k_takes_value{"-p",     "--profile", "-o",        "--output",       "-l",    "--limit",      "-x",          "--exclude", "-f",
                                                                  "--fanout", "--timeout", "--color", "--set", "--variant", "--profiles-dir", "--ssh", "--ssh-config", "--host-keys"};
  for (std::size_t i = 1; i < out.size(); ++i) {
    if (out[i] == "--") return out;
    if (std::find(k_takes_value.begin(), k_takes_value.end(), out[i]) != k_takes_value.end()) {
      ++i;
    } else if (!out[i].starts_with('-')) {
      out.insert(out.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return out;
    }
  }
  return out;
}

// `sskj help VERB` is `sskj VERB --help`. An unknown VERB is an error here: CLI11 would show the help of sskj itself for it.
Result<std::vector<std::string>> help_words(std::span<const std::string> argv) {
  std::vector<std::string> words;
  std::copy_if(argv.begin(), argv.end(), std::back_inserter(words), [](const std::string& word) { return !word.starts_with('-'); });
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  const auto all = verbs();
  const bool group = std::any_of(all.begin(), all.end(), [&](const Verb& verb) { return verb.name.starts_with(name + " "); });
  if (!name.empty() && !group && find_verb(name) == nullptr) {
    const std::vector<std::string> whole{name};
    Error error = unknown_verb(whole);
    if (error.hint.starts_with("did you mean `sskj ")) error.hint.insert(error.hint.find("sskj ") + 5, "help ");
    return tl::unexpected<Error>(std::move(error));
  }
  words.emplace_back("--help");
  return words;
}

// The command line without the flag that sskj gives itself.
std::vector<std::string> typed(std::span<const std::string> argv) {
  std::vector<std::string> words(argv.begin(), argv.end());
  if (words.size() > 1 && words[1].starts_with(std::string(k_detached_flag) + "=")) words.erase(words.begin() + 1);
  return words;
}

}  // namespace

ParsedRequest parse_request(std::span<const std::string> argv, const Getenv& env) {
  ParsedRequest parsed;
  parsed.output = wanted_output(argv);
  Request request;
  Raw raw;
  CLI::App root("sskj takes GPU nodes reachable by SSH to a verified multi-node LLM service, and says precisely why when it cannot.", "sskj");
  root.set_help_all_flag("--help-all", "Help of every command");
  root.footer("`sskj help COMMAND` is `sskj COMMAND --help`. Exit codes, profiles and the environment: README.md, docs/cli.md, docs/profile.md.");
  const std::vector<Leaf> leaves = add_verbs(root, request, raw);
  std::vector<std::string> words = protect_command(argv);
  if (!argv.empty() && argv.front() == "help") {
    auto wanted = help_words(argv.subspan(1));
    if (!wanted) {
      parsed.error = std::move(wanted.error());
      return parsed;
    }
    words = std::move(*wanted);
  }
  if (words.size() == 1 && (words.front() == "--version" || words.front() == "-V")) words.front() = "version";
  std::reverse(words.begin(), words.end());  // CLI11's convention for a vector of arguments
  try {
    root.parse(words);
  } catch (const CLI::CallForHelp&) {
    parsed.help = Help{root.help()};
    return parsed;
  } catch (const CLI::CallForAllHelp&) {
    parsed.help = Help{root.help("", CLI::AppFormatMode::All)};
    return parsed;
  } catch (const CLI::Error& fault) {
    const bool no_verb = root.get_subcommands().empty();
    parsed.error = no_verb ? unknown_verb(argv) : Error{Errc::usage, fault.what(), "`sskj " + root.get_subcommands().front()->get_name() + " --help` lists its flags"};
    return parsed;
  }
  for (const Leaf& leaf : leaves) {
    if (!leaf.app->parsed()) continue;
    request.verb = leaf.verb->name;
    request.argv = typed(argv);
    request.command_line = "sskj " + shell::join(request.argv);
    parsed.error = apply_environment(*leaf.app, env);
    if (!parsed.error) parsed.error = finish(request, raw, parsed.output);
    if (!parsed.error) parsed.error = check_combination(*leaf.verb, request);
    if (!parsed.error) parsed.request = std::move(request);
    return parsed;
  }
  parsed.error = unknown_verb(argv);
  return parsed;
}

}  // namespace sskj::app
