// Judges of the recipes' steps and stages; drivers.cpp holds the table.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/run/executor.hpp"

namespace sskj::recipes {

using Json = nlohmann::json;
using NodeOutputs = std::vector<run::NodeOutput>;

/// A rank is ready: 200 on its health path. Refused is loading, 503 is warm-up, other failures of the server are waited for; what another program says is not.
run::Verdict judge_health(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// Whatever was answered is data for the stage's verdict.
run::Verdict judge_observe(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// The warm-up request was answered to its end.
run::Verdict judge_warm(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// /v1/models names the model.
run::Verdict judge_models(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// The known answer, in content or reasoning; asked again once when it was cut off.
run::Verdict judge_smoke(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// Report "smoke".
run::Verdict report_smoke(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);
/// Files have the sha256 that the plan names.
run::Verdict judge_artifacts(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// Files are equal on all nodes.
run::Verdict judge_artifacts_equal(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);
/// Containers run, have not restarted, and are this run's.
run::Verdict judge_running(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// stop: a node that cannot be reached is left out (its removal fails later, named); a lock held by another run is not.
run::Verdict judge_locks(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);
/// Report "lock": who holds each node; a node that could not be asked is an error.
run::Verdict report_holders(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);
/// The node's part of status came whole.
run::Verdict judge_status_node(const plan::Step& step, std::string_view expectation, const run::StepResult& result);
/// Report "status"; ok only for ready.
run::Verdict report_status(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);
/// --ensure: ok when something differs from what is wanted, so that start must go on.
run::Verdict judge_must_start(const plan::Stage& stage, std::string_view expectation, const NodeOutputs& nodes);

/// What an HTTP step saw, in one word.
enum class Seen { answered, refused, silent, unreachable };
Seen seen(const run::StepResult& result);

/// A chat completion, read defensively: any of it may be missing.
struct Answer {
  bool json = false;              ///< the body was a JSON object
  std::string error;              ///< message of an error body
  std::string content, reasoning, finish_reason;
};
Answer read_answer(std::string_view body);

/// `expected` as a whole word of `text`, after digit grouping (1,081 · 1 081 · 1{,}081) is taken out.
bool says(std::string_view text, std::string_view expected);
/// The decision about an answer: content first; reasoning where the content says nothing that could be an answer.
bool correct(const Answer& answer, std::string_view expected);

inline run::Verdict accept() {
  run::Verdict verdict;
  verdict.ok = true;
  return verdict;
}
inline run::Verdict reject(Errc code, std::string message, std::string hint = {}) {
  run::Verdict verdict;
  verdict.error = Error{code, std::move(message), std::move(hint)};
  return verdict;
}
inline run::Verdict once_more(std::string progress) {
  run::Verdict verdict;
  verdict.again = true;
  verdict.progress = std::move(progress);
  return verdict;
}

/// The expectation as an object; an empty one if it is not.
inline Json object_of(std::string_view expectation) {
  auto parsed = Json::parse(expectation, nullptr, false);
  return parsed.is_object() ? parsed : Json::object();
}

/// A text field of untrusted JSON: empty unless it is a string.
inline std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace sskj::recipes
