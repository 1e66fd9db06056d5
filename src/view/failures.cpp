#include "failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "columns.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using run::FindingStatus;
using run::StepStatus;

constexpr std::string_view k_cancelled = "CANCELLED";
constexpr std::string_view k_node = "{node}";
constexpr std::size_t k_max_message = 2000;  // bytes of one message, expectation or answer

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

// Remote text inside messages: printable, bounded, its lines kept.
std::string clean(std::string_view text) { return text::printable(text::to_valid_utf8(text, k_max_message), true); }

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

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  if (at > 0 && (word_character(text[at - 1]) || text[at - 1] == '.')) {
    return false;
  }
  const std::size_t end = at + size;
  if (end >= text.size()) {
    return true;
  }
  const bool dotted = text[end] == '.' && end + 1 < text.size() && word_character(text[end + 1]);
  return !word_character(text[end]) && !dotted;
}

struct Block {
  const Failure* first = nullptr;
  std::string message, hint;
  std::vector<std::string> nodes;
  std::vector<std::string> titles;
  std::vector<std::pair<std::string, std::vector<std::string>>> expected, got;  // text -> nodes
};

void add_unique(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) {
    list.push_back(text);
  }
}

// A sentence often holds what was expected and what came; then it is not said twice.
void add_value(std::vector<std::pair<std::string, std::vector<std::string>>>& values, const std::string& message, const std::string& text, const std::string& node) {
  if (text.empty() || message.find(text) != std::string::npos) {
    return;
  }
  const std::string value = clean(replace_node(text, node, k_node));
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == value; });
  (at == values.end() ? values.emplace_back(value, std::vector<std::string>{}) : *at).second.push_back(node);
}

std::vector<Block> blocks_of(const std::vector<const Failure*>& failures) {
  std::vector<Block> blocks;
  for (const Failure* failure : failures) {
    const std::string message = clean(replace_node(failure->message, failure->node, k_node));
    const std::string hint = clean(replace_node(failure->hint, failure->node, k_node));
    auto at = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return block.first->word == failure->word && block.first->stage == failure->stage && block.first->check == failure->check && block.message == message &&
             block.hint == hint;
    });
    if (at == blocks.end()) {
      at = blocks.insert(blocks.end(), Block{failure, message, hint, {}, {}, {}, {}});
    }
    add_unique(at->nodes, failure->node);
    add_unique(at->titles, failure->title);
    add_value(at->expected, failure->message, failure->expected, failure->node);
    add_value(at->got, failure->message, failure->got, failure->node);
  }
  return blocks;
}

std::string folded(const std::vector<std::string>& nodes) { return text::printable(nodeset::fold(nodes)); }

std::string with_nodes(std::string_view text, const std::string& name) {
  std::string result{text};
  for (std::size_t at = result.find(k_node); at != std::string::npos; at = result.find(k_node, at + name.size())) {
    result.replace(at, k_node.size(), name);
  }
  return result;
}

std::string indented(std::string_view text, std::string_view first, std::string_view rest) {
  std::string result;
  for (const std::string& line : remote_lines(text)) {
    result += fmt::format("{}{}\n", result.empty() ? first : rest, line);
  }
  return result;
}

std::string values_text(std::string_view label, const std::vector<std::pair<std::string, std::vector<std::string>>>& values, const std::string& nodes) {
  std::string result;
  for (const auto& [value, at] : values) {
    const std::string suffix = values.size() > 1 ? fmt::format("  ({})", folded(at)) : std::string{};
    result += indented(with_nodes(value, values.size() > 1 ? folded(at) : nodes) + suffix, fmt::format("  {:<9} ", label), "            ");
  }
  return result;
}

std::string where_text(const Block& block, const std::string& nodes) {
  std::string where = block.first->stage;
  if (!block.titles.empty() && block.titles.front() != block.first->stage) {
    where += (where.empty() ? "" : ": ") + block.titles.front();
    where += block.titles.size() > 1 ? fmt::format(" and {} more", block.titles.size() - 1) : "";
  }
  if (!nodes.empty()) {
    where += fmt::format("{}on {}", where.empty() ? "" : " ", nodes);
  }
  if (block.nodes.size() > 1) {
    where += fmt::format(" ({})", counted(block.nodes.size(), "node"));
  }
  return text::printable(where);
}

std::string block_text(const Block& block, const Options& options, bool color) {
  const std::string nodes = folded(block.nodes);
  const std::string one = block.nodes.empty() ? "" : text::printable(block.nodes.front());
  std::string result = fmt::format("{}  {}\n", paint(Tone::bad, block.first->word, color), paint(Tone::bold, where_text(block, nodes), color));
  result += indented(with_nodes(block.message, nodes), "  ", "  ");
  result += values_text("expected", block.expected, nodes);
  result += values_text("got", block.got, nodes);
  if (!block.first->tail.empty()) {
    result += one.empty() ? "  last lines:\n" : fmt::format("  last lines of {}:\n", one);
    for (const std::string& line : block.first->tail) {
      result += fmt::format("    | {}\n", line);
    }
  }
  const std::string next = block.hint.empty() ? options.resume : with_nodes(block.hint, one);
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

std::string replace_node(std::string_view text, std::string_view node, std::string_view name) {
  if (node.empty()) {
    return std::string(text);
  }
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(node); at != std::string_view::npos; at = text.find(node, at + node.size())) {
    if (stands_alone(text, at, node.size())) {
      result.append(text.substr(from, at - from)).append(name);
      from = at + node.size();
    }
  }
  return result.append(text.substr(from));
}

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

std::string remarks_text(const Model& model, bool color) {
  struct Remark {
    FindingStatus status;
    std::string check, message, hint;
    std::vector<std::string> nodes;
  };
  std::vector<Remark> remarks;
  for (const run::Finding& finding : model.findings) {
    if (finding.status != FindingStatus::warn && finding.status != FindingStatus::unknown) {
      continue;
    }
    const std::string message = clean(replace_node(finding.message, finding.node, k_node));
    auto at = std::find_if(remarks.begin(), remarks.end(), [&](const Remark& other) {
      return other.status == finding.status && other.check == finding.check && other.message == message;
    });
    if (at == remarks.end()) {
      at = remarks.insert(remarks.end(), Remark{finding.status, finding.check, message, clean(finding.hint), {}});
    }
    add_unique(at->nodes, finding.node);
  }
  std::string result;
  for (const Remark& remark : remarks) {
    const std::string nodes = folded(remark.nodes);
    const std::string word = remark.status == FindingStatus::warn ? "warning" : "unknown";
    result += fmt::format("{}  {}{}{}\n", paint(Tone::warn, word, color), text::printable(remark.check), nodes.empty() ? "" : " on ", nodes);
    result += indented(with_nodes(remark.message, nodes), "  ", "  ");
    result += remark.hint.empty() ? "" : indented(remark.hint, "  next: ", "        ");
  }
  return result;
}

}  // namespace sskj::view
