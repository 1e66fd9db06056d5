// Container specification against what runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sskj/deploy/deployment.hpp"

namespace sskj::deploy {

/// argv of `docker run` for a spec, unquoted words. Two words hold the variables $SSKJ_PLAN and $SSKJ_RUN and are marked so that the script leaves them to the shell.
struct Word {
  std::string text;
  bool expands = false;                ///< true: double-quoted in the script, holds only literal text we control plus $SSKJ_* variables
};
std::vector<Word> docker_run_words(const ContainerSpec& spec);

/// The words as one shell command line, every word quoted.
std::string docker_run_command(const ContainerSpec& spec);

enum class Change { same, differs, missing, extra };
struct FieldDiff {
  std::string field;                   ///< "image", "argv[7]", "env.NCCL_ALGO", "mounts./tmp/x", "ulimits.memlock", ...
  std::string want, have;
  Change change = Change::differs;
};

/// Every compared field, equal ones too (Change::same): what `diff` lists. Same arguments and errors as compare().
Result<std::vector<FieldDiff>> compare_fields(const ContainerSpec& spec, std::string_view inspect_json, std::string_view image_env_json, std::string_view image_id);

/// Only what is not equal: an empty list means the container is what the spec says. Not compared: our version, the plan and run labels, and what only the image decides.
/// Compare one object of `docker inspect` (JSON array or object) with the spec. `image_env` is the image's own Config.Env (JSON array of strings), `image_id` the id that the
/// tag resolves to on that node now. The only definition of sameness (--ensure, status, diff). Errc::internal if the JSON is not docker's.
Result<std::vector<FieldDiff>> compare(const ContainerSpec& spec, std::string_view inspect_json, std::string_view image_env_json, std::string_view image_id);

}  // namespace sskj::deploy
