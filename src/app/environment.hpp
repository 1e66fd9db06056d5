// What the composition root takes from the machine: environment, files, identity of a run. The only place of the product that reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"
#include "sskj/run/transport.hpp"

namespace sskj::app {

std::optional<std::string> get_env(const std::string& name);

/// Whole file, at most `max_bytes`. Errc::usage with the path and the system's reason.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = 64U << 20U);
bool file_exists(const std::string& path);
std::vector<std::string> list_directory(const std::string& path);  ///< names of entries, sorted; empty when it cannot be read

/// Directories by the XDG convention; relative to $HOME (a static glibc binary must not ask NSS for it).
std::string state_home();   ///< $XDG_STATE_HOME or ~/.local/state
std::string config_home();  ///< $XDG_CONFIG_HOME or ~/.config

/// from_env:NAME or from_file:PATH; one trailing newline is dropped. Errc::usage when it is absent, empty or nothing that can be carried (deploy::valid_secret); the value is never
/// part of a message.
Result<std::string> resolve_secret(const plan::SecretRef& secret);

std::int64_t wall_millis();   ///< since 1970
std::string wall_clock();     ///< "2026-01-01T00:00:00.123Z"

/// A fresh run: id `YYYYMMDD-HHMMSS-xxxx` (UTC, random tail) and its start time.
run::RunVars new_run(const plan::Plan& plan);

}  // namespace sskj::app
