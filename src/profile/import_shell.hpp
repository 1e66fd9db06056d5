// The part of the shell's language that profiles are written in: assignments. Read, never run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/profile/import.hpp"

namespace sskj::profile {

struct ShellVariable {
  std::string name;
  std::vector<std::string> words;  ///< one for a scalar
  std::vector<std::string> unknown;  ///< "$NAME" of variables that the file does not set; they stand so in the words
  bool array = false;
  bool used = false;               ///< its value went into another one
  std::size_t line = 0;
  std::string raw;                 ///< the assignment as written
};

struct ShellScript {
  std::vector<ShellVariable> variables;  ///< last value of each, in order of first assignment
  std::vector<Unplaced> refused;         ///< commands, conditions, substitutions
};

ShellScript read_shell(std::string_view text);

/// One short line for messages; the value of a name that looks like a secret is left out.
std::string shown_source(std::string_view raw);

}  // namespace sskj::profile
