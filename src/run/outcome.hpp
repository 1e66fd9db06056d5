// What an outcome means, as pure functions: words, categories, last lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/run/event.hpp"

namespace sskj::run {

/// Removes a last line `sskj: changed` or `sskj: unchanged` and says which it was.
std::optional<StepStatus> take_answer(std::string& out);

/// The last lines a person wants to see, printable, bounded in number and width.
std::vector<std::string> last_lines(std::string_view out, std::string_view err);

/// Sets status, error, expected and got of a script (or put) that ended with `status`; `result` holds its output.
void settle_script(const plan::Step& step, int status, StepResult& result);

/// The error of a call that never ran: a connection that did not come about in time is an unreachable node (exit 4), not a deadline of the run (exit 124).
Error unreachable(Error error);

/// `message` with the node and the step's title before it, where it does not begin with the node already. Hints default to the step's.
Error named(const plan::Step& step, Error error);

/// A failure of the step itself: "NODE: TITLE: expected X, got Y[: last line]".
Error expectation_failed(const plan::Step& step, Errc code, const StepResult& result);

/// Neither done nor skipped.
bool is_bad(StepStatus status);

}  // namespace sskj::run
