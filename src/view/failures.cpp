#include "failures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "columns.hpp"
#include "sskj/core/text.hpp"
#include "who.hpp"

namespace sskj::view {

namespace {

using run::FindingStatus;
using run::StepStatus;

constexpr std::string_view k_cancelled = "CANCELLED";

std::string word_of(const run::StepResult& result) {
  switch (result.status) {
    case StepStatus::lost: return "LOST";
    case StepStatus::timed_out: return "TIMED OUT";
    case StepStatus::cancelled: return std::string(k_cancelled);
    default: break;
  }
  const Errc code = result.error ? result.error->code : Errc::step_failed;
  const bool connection = code == Errc::unreachable || code == Errc::auth || code == Errc::host_key;
  return connection ? "UNREACHABLE" : "FAILED";
}

std::vector<std::string> tail_of(const run::StepResult& result, std::size_t count) {
  std::vector<std::string> lines;
  const std::size_t first = result.last_lines.size() - std::min(count, result.last_lines.size());
  for (std::size_t i = first; i < result.last_lines.size(); ++i) {
    lines.push_back(remote_line(result.last_lines[i], 300));
  }
  if (lines.empty()) {
    lines = last_lines(result.err, count);
  }
  if (lines.empty()) {
    lines = last_lines(result.out, count);
  }
  return lines;
}

Failure failure_of(const run::Finding& finding, const std::string& stage) {
  Failure failure{stage, finding.check, finding.node, "FAILED", finding.message, finding.expected, finding.got, finding.hint, {}, finding.check};
  if (finding.failure == Errc::unreachable || finding.failure == Errc::auth || finding.failure == Errc::host_key) {
    failure.word = "UNREACHABLE";
  }
  return failure;
}

struct Value {
  std::string text;
  Who who;
};

struct Block {
  const Failure* first = nullptr;
  std::string message, hint;
  Who who;
  std::vector<std::string> titles;
  std::vector<Value> expected, got;
};

std::string rank_of(const Failure& failure) {
  const std::string rank = first_rank(failure.title);
  return rank.empty() ? first_rank(failure.message) : rank;
}

// A sentence often holds what was expected and what came; then it is not said twice.
void add_value(std::vector<Value>& values, const std::string& message, const std::string& text, const std::string& node, const std::string& rank) {
  if (text.empty() || message.find(text) != std::string::npos) {
    return;
  }
  const std::string value = common_text(text, node, rank);
  const auto at = std::find_if(values.begin(), values.end(), [&](const Value& entry) { return entry.text == value; });
  add((at == values.end() ? values.emplace_back(Value{value, {}}) : *at).who, node, rank);
}

std::vector<Block> blocks_of(const std::vector<const Failure*>& failures) {
  std::vector<Block> blocks;
  for (const Failure* failure : failures) {
    const std::string rank = rank_of(*failure);
    const std::string message = common_text(failure->message, failure->node, rank);
    const std::string hint = common_text(failure->hint, failure->node, rank);
    auto at = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.first->word == failure->word && block.first->stage == failure->stage && block.first->check == failure->check && block.message == message &&
             block.hint == hint;
    });
    if (at == blocks.end()) {
      at = blocks.insert(blocks.end(), Block{failure, message, hint, {}, {}, {}, {}});
    }
    add(at->who, failure->node, rank);
    add_unique(at->titles, replace_rank(failure->title, rank));
    add_value(at->expected, failure->message, failure->expected, failure->node, rank);
    add_value(at->got, failure->message, failure->got, failure->node, rank);
  }
  return blocks;
}

std::string indented(std::string_view text, std::string_view first, std::string_view rest) {
  std::string result;
  for (const std::string& line : remote_lines(text)) {
    result += fmt::format("{}{}\n", result.empty() ? first : rest, line);
  }
  return result;
}

std::string values_text(std::string_view label, const std::vector<Value>& values, const Who& who) {
  std::string result;
  for (const Value& value : values) {
    const std::string suffix = values.size() > 1 ? fmt::format("  ({})", folded(value.who.nodes)) : std::string{};
    result += indented(named(value.text, values.size() > 1 ? value.who : who) + suffix, fmt::format("  {:<9} ", label), "            ");
  }
  return result;
}

std::string where_text(const Block& block, const std::string& nodes) {
  std::string where = block.first->stage;
  if (!block.titles.empty() && block.titles.front() != block.first->stage) {
    where += (where.empty() ? "" : ": ") + named(block.titles.front(), block.who);
    where += block.titles.size() > 1 ? fmt::format(" and {} more", block.titles.size() - 1) : "";
  }
  if (!nodes.empty()) {
    where += fmt::format("{}on {}", where.empty() ? "" : " ", nodes);
  }
  if (block.who.nodes.size() > 1) {
    where += fmt::format(" ({})", counted(block.who.nodes.size(), "node"));
  }
  return text::printable(where);
}

std::string block_text(const Block& block, const Options& options, bool color) {
  const std::string nodes = folded(block.who.nodes);
  const std::string one = block.who.nodes.empty() ? "" : text::printable(block.who.nodes.front());
  std::string result = fmt::format("{}  {}\n", paint(Tone::bad, block.first->word, color), paint(Tone::bold, where_text(block, nodes), color));
  result += indented(named(block.message, block.who), "  ", "  ");
  result += values_text("expected", block.expected, block.who);
  result += values_text("got", block.got, block.who);
  if (!block.first->tail.empty()) {
    result += one.empty() ? "  last lines:\n" : fmt::format("  last lines of {}:\n", one);
    for (const std::string& line : block.first->tail) {
      result += fmt::format("    | {}\n", line);
    }
  }
  const std::string next = block.hint.empty() ? options.resume : named_first(block.hint, block.who);
  if (!next.empty()) {
    result += indented(next, "  next: ", "        ");
  }
  return result;
}

// Nodes that did not end well and that no failure names: what was tolerated on them is said after all.
std::vector<Failure> tolerated_failures(const Model& model) {
  std::vector<Failure> failures;
  for (const NodeState& node : model.nodes) {
    const bool bad = node.ended && *node.ended != run::HostClass::ok && *node.ended != run::HostClass::skipped;
    const bool named = std::any_of(model.failures.begin(), model.failures.end(), [&](const Failure& failure) { return failure.node == node.id; });
    const auto step = std::find_if(model.steps.begin(), model.steps.end(), [&](const StepRecord& record) {
      return record.result.node == node.id && record.tolerated && record.result.error && is_failure(record.result.status);
    });
    if (bad && !named && step != model.steps.end()) {
      failures.push_back({step->stage, step->title, node.id, word_of(step->result), step->result.error->message, {}, {}, step->result.error->hint, {}, {}});
    }
  }
  return failures;
}

}  // namespace

void add_finding(Model& model, const run::Finding& finding, const std::string& stage) {
  const bool known = std::any_of(model.findings.begin(), model.findings.end(), [&](const run::Finding& other) {
    return other.check == finding.check && other.node == finding.node && other.message == finding.message && other.status == finding.status;
  });
  if (known) {
    return;
  }
  model.findings.push_back(finding);
  if (finding.status == FindingStatus::fail) {
    model.failures.push_back(failure_of(finding, stage));
  }
}

void forgive(Model& model, const run::Finding& finding) {
  std::erase_if(model.failures, [&](const Failure& failure) { return failure.check == finding.check && failure.node == finding.node && failure.message == finding.message; });
}

void forgive(Model& model, const run::StepResult& result) {
  for (const run::Finding& finding : result.findings) {
    forgive(model, finding);
  }
}

void add_step_failures(Model& model, const plan::Step& step, const run::StepResult& result, const std::string& stage, std::size_t tail) {
  bool told = false;
  for (const run::Finding& finding : result.findings) {
    add_finding(model, finding, stage);
    told = told || finding.status == FindingStatus::fail;
  }
  if (told) {
    return;
  }
  Failure failure{stage, step.title, step.node, word_of(result), {}, result.expected, result.got, step.hint, tail_of(result, tail), {}};
  if (result.error) {
    failure.message = result.error->message;
    failure.hint = result.error->hint.empty() ? step.hint : result.error->hint;
  }
  if (failure.message.empty()) {
    failure.message = result.exit_status ? fmt::format("the script ended with status {}", *result.exit_status) : std::string("no answer");
  }
  model.failures.push_back(std::move(failure));
}

void add_stage_failure(Model& model, const Error& error, const std::string& stage) {
  const bool told = std::any_of(model.failures.begin(), model.failures.end(), [&](const Failure& failure) { return failure.stage == stage && failure.word != k_cancelled; });
  if (!told) {  // what was cut short does not say why
    const std::string word = error.code == Errc::cancelled ? std::string(k_cancelled) : (error.code == Errc::timeout ? "TIMED OUT" : "FAILED");
    model.failures.push_back({stage, {}, {}, word, error.message, {}, {}, error.hint, {}, {}});
  }
}

std::string failures_text(const Model& model, const Options& options, bool color) {
  std::vector<const Failure*> primary;
  std::vector<std::string> cancelled;
  const std::vector<Failure> extra = tolerated_failures(model);
  for (const Failure& failure : model.failures) {
    if (failure.word == k_cancelled) {
      add_unique(cancelled, failure.node);
    } else {
      primary.push_back(&failure);
    }
  }
  for (const Failure& failure : extra) {
    primary.push_back(&failure);
  }
  std::string result;
  for (const Block& block : blocks_of(primary)) {
    result += block_text(block, options, color);
  }
  for (const Failure* failure : primary) {  // what failed was not merely cancelled
    std::erase(cancelled, failure->node);
  }
  if (!cancelled.empty()) {
    const std::string why = primary.empty() ? "" : fmt::format(" because {} failed", primary.front()->node.empty() ? "the stage" : text::printable(primary.front()->node));
    result += fmt::format("cancelled on {}{}\n", folded(cancelled), why);
  }
  return result;
}

std::string remarks_text(const std::vector<run::Finding>& findings, bool color) {
  struct Remark {
    FindingStatus status;
    std::string check, message, hint;
    Who who;
  };
  std::vector<Remark> remarks;
  for (const run::Finding& finding : findings) {
    if (finding.status != FindingStatus::warn && finding.status != FindingStatus::unknown) {
      continue;
    }
    const std::string rank = first_rank(finding.message);
    const std::string message = common_text(finding.message, finding.node, rank);
    auto at = std::find_if(remarks.begin(), remarks.end(), [&](const Remark& other) {
      return other.status == finding.status && other.check == finding.check && other.message == message;
    });
    if (at == remarks.end()) {
      at = remarks.insert(remarks.end(), Remark{finding.status, finding.check, message, common_text(finding.hint, finding.node, rank), {}});
    }
    add(at->who, finding.node, rank);
  }
  std::string result;
  for (const Remark& remark : remarks) {
    const std::string nodes = folded(remark.who.nodes);
    const std::string word = remark.status == FindingStatus::warn ? "warning" : "unknown";
    result += fmt::format("{}  {}{}{}\n", paint(Tone::warn, word, color), text::printable(remark.check), nodes.empty() ? "" : " on ", nodes);
    result += indented(named(remark.message, remark.who), "  ", "  ");
    result += remark.hint.empty() ? "" : indented(named_first(remark.hint, remark.who), "  next: ", "        ");
  }
  return result;
}

}  // namespace sskj::view
