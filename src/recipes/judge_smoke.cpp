// Correct.
#include "judges.hpp"
#include "sskj/core/text.hpp"

namespace sskj::recipes {
namespace {

constexpr std::size_t k_quoted = 400;
constexpr std::size_t k_reported = 16'384;  ///< bytes of answer and reasoning in the report

std::string shown(std::string_view text) { return text::printable(text::to_valid_utf8(text::trim(text), k_quoted)); }

/// The same request with a larger limit, judged as the last attempt; nullopt when the step is not such a request.
std::optional<plan::HttpProbe> with_limit(const plan::Step& step, Json expectation) {
  const auto* probe = std::get_if<plan::HttpProbe>(&step.action);
  if (probe == nullptr) return std::nullopt;
  auto body = Json::parse(probe->body, nullptr, false);
  if (!body.is_object()) return std::nullopt;
  body["max_tokens"] = expectation.value("max_tokens_retry", 2048U);
  expectation["retried"] = true;
  auto again = *probe;
  again.body = body.dump();
  again.verdict.expectation = expectation.dump();
  return again;
}

run::Verdict judge_text(const plan::Step& step, const Json& expectation, const Answer& answer) {
  const auto expect = expectation.value("expect", "");
  if (correct(answer, expect)) return accept();
  if (answer.finish_reason == "length" && !expectation.value("retried", false)) {
    if (auto again = with_limit(step, expectation)) {
      auto verdict = once_more("the answer was cut off: asking again with a larger limit");
      verdict.ask_again = std::move(again);
      verdict.error = Error{Errc::wrong_answer, "the answer was cut off before it came to " + expect, ""};
      verdict.again = false;
      return verdict;
    }
  }
  if (answer.finish_reason == "abort") return reject(Errc::not_ready, "the engine aborted the request");
  if (answer.content.empty() && answer.reasoning.empty()) return reject(Errc::wrong_answer, "the answer is empty, expected " + expect);
  const std::string cut = answer.finish_reason == "length" ? " (cut off even with the larger limit)" : "";
  return reject(Errc::wrong_answer, "expected " + expect + ", got" + cut + ": \"" + shown(answer.content.empty() ? answer.reasoning : answer.content) + "\"",
                "a wrong answer from a healthy service means wrong weights, a wrong patch or a broken kernel: compare sha256 and image ids (sskj preflight)");
}

}  // namespace

run::Verdict judge_smoke(const plan::Step& step, std::string_view expectation, const run::StepResult& result) {
  const auto wanted = object_of(expectation);
  switch (seen(result)) {
    case Seen::refused: return reject(Errc::not_ready, "the question: the connection is refused: nothing listens there");
    case Seen::silent: return reject(Errc::not_ready, "the question: no answer in time");
    case Seen::unreachable: return reject(Errc::not_ready, "the question could not be asked: " + (result.error ? result.error->message : std::string()));
    case Seen::answered: break;
  }
  const auto answer = read_answer(result.http->body);
  if (result.http->status != 200 || !answer.error.empty()) {
    return reject(Errc::not_ready, "the question is answered " + std::to_string(result.http->status) + ": " + shown(answer.error.empty() ? result.http->body : answer.error),
                  result.http->status == 401 ? "check api_key in the profile" : "");
  }
  if (!answer.json) return reject(Errc::wrong_answer, "the question is answered with something that is not JSON: \"" + shown(result.http->body) + "\"");
  return judge_text(step, wanted, answer);
}

run::Verdict report_smoke(const plan::Stage&, std::string_view expectation, const NodeOutputs& nodes) {
  const auto wanted = object_of(expectation);
  Json report{{"schema_version", 1},       {"model", wanted.value("model", "")},       {"question", wanted.value("question", "")},
              {"models_ok", nullptr},      {"expected", wanted.value("expected", "")}, {"answer", nullptr},
              {"reasoning", nullptr},      {"finish_reason", nullptr},                 {"correct", nullptr},
              {"elapsed_ms", nullptr}};
  for (const auto& node : nodes) {
    if (node.result == nullptr) continue;
    if (node.result->step == wanted.value("models_step", "")) {
      if (node.result->http) report["models_ok"] = node.result->status == run::StepStatus::ok;  // not asked is not "no"
    }
    if (node.result->step != wanted.value("ask_step", "") || !node.result->http) continue;
    const auto answer = read_answer(node.result->http->body);
    report["answer"] = text::to_valid_utf8(answer.content, k_reported);
    report["reasoning"] = text::to_valid_utf8(answer.reasoning, k_reported);
    report["finish_reason"] = answer.finish_reason;
    report["correct"] = node.result->status == run::StepStatus::ok && correct(answer, wanted.value("expected", ""));
    report["elapsed_ms"] = node.result->http->elapsed.count();
  }
  auto verdict = accept();  // the steps have failed by themselves where they must
  verdict.reports.push_back({"smoke", report.dump(-1, ' ', false, Json::error_handler_t::replace)});
  return verdict;
}

}  // namespace sskj::recipes
