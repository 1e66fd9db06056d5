// POSIX shell quoting. Every value that reaches a script goes through here, never through string concatenation.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sskj::shell {

/// One word for any POSIX shell: unchanged when it holds only [A-Za-z0-9_@%+=:,./-], else in single quotes.
/// NUL bytes cannot be passed to a process; they are removed. Round trip through `sh -c` is property-tested.
std::string quote(std::string_view word);

/// Words quoted and joined by single blanks.
std::string join(std::span<const std::string> words);

}  // namespace sskj::shell
