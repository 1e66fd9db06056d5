#include "outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sskj/core/text.hpp"

namespace sskj::run {
namespace {

constexpr std::size_t k_last_lines = 20;
constexpr std::size_t k_line_width = 400;   // bytes of a last line that are shown
constexpr std::size_t k_looked_at = 64U << 10;  // bytes at the end of an output in which they are looked for

const plan::RunScript* as_script(const plan::Step& step) { return std::get_if<plan::RunScript>(&step.action); }

/// A script's own status refines the category; the status of a followed command (`exec`, `logs`) is the user's and means nothing to us.
Errc category(const plan::Step& step, int status) {
  const auto* script = as_script(step);
  if (script != nullptr && script->follow) return step.failure;
  const Errc refined = plan::exit_errc(status);
  return refined == Errc::step_failed ? step.failure : refined;
}

}  // namespace

std::optional<StepStatus> take_answer(std::string& out) {
  const std::string_view trimmed = text::trim(out);
  const auto begin = trimmed.empty() ? 0 : trimmed.find_last_of("\n\r") + 1;  // npos + 1 == 0: the only line
  const std::string_view last = trimmed.substr(begin);
  std::optional<StepStatus> answer;
  if (last == "sskj: changed") answer = StepStatus::changed;
  if (last == "sskj: unchanged") answer = StepStatus::unchanged;
  if (answer) out.resize(static_cast<std::size_t>(last.data() - out.data()));
  return answer;
}

std::vector<std::string> last_lines(std::string_view out, std::string_view err) {
  const std::string_view source = text::trim(err).empty() ? out : err;
  const auto lines = text::split_lines(source.substr(source.size() - std::min(source.size(), k_looked_at)));
  std::vector<std::string> last;
  for (auto line = lines.rbegin(); line != lines.rend() && last.size() < k_last_lines; ++line) {
    if (!text::trim(*line).empty()) last.push_back(text::printable(text::to_valid_utf8(*line, k_line_width)));
  }
  std::reverse(last.begin(), last.end());
  return last;
}

Error named(const plan::Step& step, Error error) {
  if (!error.message.starts_with(step.node)) error.message = fmt::format("{}: {}: {}", step.node, step.title, error.message);
  if (error.hint.empty()) error.hint = step.hint;
  return error;
}

Error unreachable(Error error) {
  if (error.code == Errc::timeout) error.code = Errc::unreachable;
  return error;
}

Error expectation_failed(const plan::Step& step, Errc code, const StepResult& result) {
  // A script of ours that ends with one of plan::exit_errc's statuses says why in its last line: the number adds nothing to that.
  const bool explained = result.exit_status && plan::exit_errc(*result.exit_status) == code && code != Errc::step_failed && !result.last_lines.empty();
  if (explained) return {code, fmt::format("{}: {}: {}", step.node, step.title, result.last_lines.back()), step.hint};
  const std::string evidence = result.last_lines.empty() ? "" : ": " + result.last_lines.back();
  return {code, fmt::format("{}: {}: expected {}, got {}{}", step.node, step.title, result.expected, result.got, evidence), step.hint};
}

void settle_script(const plan::Step& step, int status, StepResult& result) {
  result.exit_status = status;
  const auto* script = as_script(step);
  const auto answer = script != nullptr && script->follow ? std::nullopt : take_answer(result.out);
  if (status == 0) {
    result.status = answer.value_or(StepStatus::ok);
    return;
  }
  const Errc code = category(step, status);
  result.status = code == Errc::timeout ? StepStatus::timed_out : StepStatus::failed;
  result.expected = "exit status 0";
  result.got = fmt::format("exit status {}", status);
  result.last_lines = last_lines(result.out, result.err);
  result.error = expectation_failed(step, code, result);
}

bool is_bad(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
    case StepStatus::changed:
    case StepStatus::unchanged:
    case StepStatus::skipped: return false;
    case StepStatus::failed:
    case StepStatus::not_run:
    case StepStatus::lost:
    case StepStatus::timed_out:
    case StepStatus::cancelled: return true;
  }
  return true;
}

}  // namespace sskj::run
