// Request: what one command line asks for, as data. Parsing is pure: argv and an environment lookup in, a value or an Error out.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::app {

enum class Output { text, json, ndjson };

/// Hidden: sskj gives it to itself, behind the verb, when it goes on in the background (src/app/detach.hpp).
inline constexpr std::string_view k_detached_flag = "--detached-run";

struct Request {
  std::string verb;                          ///< row of the verb table: "start", "profile lint", ...
  std::string command_line;                  ///< as typed, quoted for a shell: "sskj start -p x --set PORT=30001"
  std::vector<std::string> argv;             ///< as typed, without the program's name

  // global flags (docs/cli.md); each long flag has an environment twin SSKJ_<NAME>
  std::string profile;
  bool dry_run = false;
  Output output = Output::text;
  std::string limit, exclude;                ///< node sets
  std::size_t fanout = 64;
  bool yes = false;
  int verbose = 0;
  bool quiet = false;
  std::optional<std::chrono::milliseconds> timeout;
  std::string color = "auto";                ///< auto | always | never
  std::vector<profile::Override> set;        ///< --set KEY=VALUE
  std::vector<std::string> variants;
  std::string profiles_dir;
  std::string ssh = "auto";                  ///< auto | ssh2 | openssh
  std::string ssh_config;                    ///< file for ssh -F; empty = the user's
  std::string host_keys = "auto";            ///< auto (as ssh_config says) | strict | accept-new
  bool direct = false;                       ///< HTTP straight to the data address instead of through SSH

  // flags of single verbs
  bool ensure = false, adopt = false, force = false, keep_failed = false;
  std::string name;                          ///< --name PATTERN (stop --force)
  std::string reason;                        ///< free text, kept in the lock
  bool detach = false;                       ///< go on in the background, in a session of its own
  std::string detached_run;                  ///< value of k_detached_flag: the run directory the process was born with
  bool follow = false;
  unsigned tail = 100;                       ///< lines a rank; 0 = all
  std::string since;
  std::optional<unsigned> rank;
  bool resolved = false;
  bool prefix = false;                       ///< exec: stream `node: line` instead of folding
  std::vector<std::string> words;            ///< positional: command of exec, files of lint and import, host of ssh explain, run of attach
};

/// What parse_request ends with when nothing is to be run: help or version text for stdout.
struct Help { std::string text; };

struct ParsedRequest {
  std::optional<Request> request;
  std::optional<Help> help;                  ///< set instead of request for --help
  std::optional<Error> error;                ///< Errc::usage
  Output output = Output::text;              ///< best effort even with an error, so that errors come out in the requested form
};

using Getenv = std::function<std::optional<std::string>(const std::string&)>;

/// `argv` without the program's name. Precedence flag > SSKJ_* environment > default; DRY_RUN=1 works as in the manuals.
ParsedRequest parse_request(std::span<const std::string> argv, const Getenv& env);

}  // namespace sskj::app
