// From a script's output to findings, and from findings to a verdict.
#include <algorithm>
#include <map>

#include "sskj/core/exit_code.hpp"
#include "sskj/core/nodeset.hpp"
#include "support.hpp"

namespace sskj::checks {
namespace {

bool blocks(const Finding& found) { return found.status == FindingStatus::fail || found.status == FindingStatus::unknown; }

/// The verdict's one error: the most severe finding speaks, the others are counted.
Error error_of(const Findings& findings, std::string_view subject) {
  const Finding* worst = nullptr;
  std::size_t count = 0;
  for (const auto& one : findings) {
    if (!blocks(one)) continue;
    ++count;
    if (worst == nullptr) worst = &one;
    const ExitCode pair[] = {exit_code_of(worst->failure), exit_code_of(one.failure)};
    const bool more_severe = pair[0] != pair[1] && most_severe(pair) == pair[1];
    const bool surer = worst->status == FindingStatus::unknown && one.status == FindingStatus::fail;
    if (surer || (more_severe && worst->status == one.status)) worst = &one;
  }
  Error error{worst->failure, std::string(subject) + worst->message, worst->hint};
  if (count > 1) error.message += " (and " + std::to_string(count - 1) + " more)";
  return error;
}

Findings judge_one(const Check& check, const Json& expectation, const Output* output) {
  if (output == nullptr) return {unsure("the probe of \"" + std::string(check.title) + "\" did not run or its output was cut off")};
  auto findings = check.judge(expectation, *output);
  if (findings.empty()) findings.push_back(unsure("\"" + std::string(check.title) + "\" gave no answer", output->first_line()));
  return findings;
}

const Output* record_of(const std::vector<std::pair<std::string, Output>>& records, std::string_view id) {
  const auto at = std::find_if(records.begin(), records.end(), [&](const auto& record) { return record.first == id; });
  return at == records.end() ? nullptr : &at->second;
}

void add(Findings& all, Findings more, const Check& check, const std::string& node) {
  for (auto& one : more) {
    if (one.check.empty()) one.check = check.id;
    one.node = node;
    if (one.hint.empty() && blocks(one)) one.hint = check.remedy;
    all.push_back(std::move(one));
  }
}

Finding skipped(const std::string& id, const std::string& node) {
  auto note = finding(FindingStatus::not_applicable, "skipped by the profile (preflight skip)");
  note.check = id;
  note.node = node;
  return note;
}

}  // namespace

run::Verdict judge_node(const plan::Step& step, std::string_view expectation, const run::StepResult& result) {
  run::Verdict verdict;
  const auto wanted = Json::parse(expectation, nullptr, false);
  if (!wanted.is_object() || !wanted.contains("checks")) {
    verdict.error = Error{Errc::internal, "step " + step.id + ": the expectation is not one of checks", ""};
    return verdict;
  }
  const auto records = split_records(result.out);
  for (const auto& row : wanted["checks"]) {
    const auto id = row.value("id", "");
    const auto* check = find(id);
    if (check == nullptr) {
      auto unheard = unsure("this sskj has no check \"" + id + "\"");
      unheard.check = id;
      unheard.node = step.node;
      verdict.findings.push_back(std::move(unheard));
      continue;
    }
    add(verdict.findings, judge_one(*check, row.value("expect", Json::object()), record_of(records, id)), *check, step.node);
  }
  for (const auto& id : wanted.value("skipped", std::vector<std::string>{})) verdict.findings.push_back(skipped(id, step.node));
  verdict.ok = std::none_of(verdict.findings.begin(), verdict.findings.end(), blocks);
  if (!verdict.ok) verdict.error = error_of(verdict.findings, step.node + ": ");
  return verdict;
}

std::vector<run::Finding> disagreements(const Agreement& about, const std::vector<std::pair<std::string, std::string>>& value_by_node) {
  std::map<std::string, std::vector<std::string>> nodes_of;
  for (const auto& [node, value] : value_by_node) nodes_of[value].push_back(node);
  if (nodes_of.size() < 2) return {};
  std::size_t most = 0;
  for (const auto& [value, nodes] : nodes_of) most = std::max(most, nodes.size());
  const auto ties = std::count_if(nodes_of.begin(), nodes_of.end(), [&](const auto& entry) { return entry.second.size() == most; });
  Findings findings;
  std::string majority;
  for (const auto& [value, nodes] : nodes_of) {
    if (ties == 1 && nodes.size() == most) majority = value + " (on " + nodeset::fold(nodes) + ")";
  }
  for (const auto& [value, nodes] : nodes_of) {
    if (ties == 1 && nodes.size() == most) continue;
    const auto message = ties == 1 ? std::string(about.title) + " differs from the other nodes'" : std::string(about.title) + " differs between nodes, with no majority";
    for (const auto& node : nodes) {
      auto odd = bad(message, ties == 1 ? majority : "one value on all nodes", value, std::string(about.remedy));
      odd.check = about.fact;
      odd.node = node;
      odd.failure = about.failure;
      odd.status = about.status;
      findings.push_back(std::move(odd));
    }
  }
  return findings;
}

run::Verdict judge_agreement(const plan::Stage& stage, std::string_view expectation, const std::vector<run::NodeOutput>& nodes) {
  run::Verdict verdict;
  const auto wanted = Json::parse(expectation, nullptr, false);
  if (!wanted.is_object() || !wanted.contains("facts")) {
    verdict.error = Error{Errc::internal, "stage " + stage.id + ": the expectation names no facts", ""};
    return verdict;
  }
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> values;
  for (const auto& node : nodes) {
    if (node.result == nullptr) continue;
    for (const auto& [id, output] : split_records(node.result->out)) {
      const auto* check = find(id);
      if (check == nullptr || check->facts == nullptr) continue;
      for (auto& fact : check->facts(output)) values[fact.name].emplace_back(node.node, std::move(fact.value));
    }
  }
  // A fact's name may carry a subject behind a blank ("image-id lmsysorg/sglang:kimi-k3"): each subject agrees by itself.
  for (const auto& about : agreements()) {
    const auto listed = wanted["facts"].get<std::vector<std::string>>();
    if (std::find(listed.begin(), listed.end(), about.fact) == listed.end()) continue;
    for (const auto& [name, seen] : values) {
      if (name != about.fact && !name.starts_with(std::string(about.fact) + " ")) continue;
      for (auto& odd : disagreements(about, seen)) verdict.findings.push_back(std::move(odd));
    }
  }
  const auto worst = std::find_if(verdict.findings.begin(), verdict.findings.end(), blocks);
  verdict.ok = worst == verdict.findings.end();
  if (!verdict.ok) {
    const auto& first = *worst;
    verdict.error = error_of({first}, first.node + ": ");
    verdict.error->message += ": expected " + first.expected + ", got " + first.got;
  }
  return verdict;
}

}  // namespace sskj::checks
