// What the human and the plain renderer share: step lines, streamed remote output, answers on stdout.
#pragma once

#include <string>

#include "model.hpp"

namespace sskj::view {

/// Lines for stderr that an event causes at -v and -vv, and for stdout with prefixed output (written at once). Empty mostly.
std::string verbose_text(Context& context, const run::Event& event);

/// The line of a finished step: "174.1.60.5 pull image: changed (1.2s)".
std::string step_line(const plan::Step& step, const run::StepResult& result);

/// The answer of the run, for stdout: folded output, then reports as text.
std::string answer_text(const Model& model, const Options& options, bool color);

/// The stderr of folded commands, for stderr.
std::string folded_errors(const Model& model);

/// Which nodes' folded output was cut by our bound, at how many bytes, and where the whole is, for stderr; empty when nothing was.
std::string cuts_text(const Model& model);

}  // namespace sskj::view
