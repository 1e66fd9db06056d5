// Judges of what nodes say about files, containers and locks.
#include <algorithm>
#include <map>

#include "judges.hpp"
#include "sskj/checks/check.hpp"
#include "sskj/core/text.hpp"

namespace sskj::recipes {
namespace {

using run::Finding;
using run::FindingStatus;

/// Lines "KEY rest" of a script's output.
std::vector<std::string> values(std::string_view output, std::string_view key) {
  checks::Output lines;
  lines.text = output;
  return lines.values(key);
}

bool complete(const run::StepResult& result) {
  checks::Output lines;
  lines.text = result.out;
  return result.exit_status == 0 && lines.ended();
}

std::map<std::string, std::string> digests(std::string_view output) {
  std::map<std::string, std::string> found;
  for (const auto& line : values(output, "sha256")) {
    const auto blank = line.find(' ');
    if (blank != std::string::npos) found[line.substr(blank + 1)] = line.substr(0, blank);
  }
  return found;
}

Finding about_file(const plan::Step& step, FindingStatus status, std::string message, std::string expected, std::string got, std::string hint) {
  Finding finding;
  finding.check = "artifacts";
  finding.node = step.node;
  finding.status = status;
  finding.message = std::move(message);
  finding.expected = std::move(expected);
  finding.got = std::move(got);
  finding.hint = std::move(hint);
  finding.failure = Errc::integrity;
  return finding;
}

Finding judge_file(const plan::Step& step, const Json& file, const run::StepResult& result, const std::map<std::string, std::string>& have) {
  const auto name = file.value("name", ""), path = file.value("path", ""), want = file.value("sha256", "");
  const auto hint = file.value("carried", true) ? "another program writes there: choose another path in the profile"
                                                : "copy the file to " + path + " on this node (source: " + file.value("source", "") + ")";
  const auto missing = values(result.out, "missing");
  const auto at = have.find(path);
  if (at == have.end()) {
    const bool gone = std::find(missing.begin(), missing.end(), path) != missing.end();
    return about_file(step, gone ? FindingStatus::fail : FindingStatus::unknown, gone ? "artifact " + name + " is missing" : "artifact " + name + " cannot be read", path,
                      gone ? "no such file" : "not a readable file", hint);
  }
  if (!want.empty() && at->second != want) return about_file(step, FindingStatus::fail, "artifact " + name + " has another sha256", want, at->second, hint);
  return about_file(step, FindingStatus::ok, "artifact " + name + " is in place", want, at->second, "");
}

run::Verdict verdict_of(std::vector<Finding> findings) {
  run::Verdict verdict;
  const auto bad = std::find_if(findings.begin(), findings.end(), [](const Finding& one) { return one.status != FindingStatus::ok; });
  verdict.ok = bad == findings.end();
  if (!verdict.ok) verdict.error = Error{bad->failure, bad->node + ": " + bad->message + ": expected " + bad->expected + ", got " + bad->got, bad->hint};
  verdict.findings = std::move(findings);
  return verdict;
}

}  // namespace

run::Verdict judge_artifacts(const plan::Step& step, std::string_view expectation, const run::StepResult& result) {
  if (!complete(result)) return reject(Errc::integrity, step.node + ": the artifacts could not be read back");
  const auto have = digests(result.out);
  std::vector<Finding> findings;
  for (const auto& file : object_of(expectation).value("files", Json::array())) findings.push_back(judge_file(step, file, result, have));
  return verdict_of(std::move(findings));
}

run::Verdict judge_artifacts_equal(const plan::Stage&, std::string_view, const NodeOutputs& nodes) {
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> by_path;
  for (const auto& node : nodes) {
    if (node.result == nullptr) continue;
    for (const auto& [path, sum] : digests(node.result->out)) by_path[path].emplace_back(node.node, sum);
  }
  std::vector<Finding> findings;
  for (const auto& [path, sums] : by_path) {
    const auto title = "the sha256 of " + path;
    for (auto& odd : checks::disagreements({"artifacts", title, Errc::integrity, "copy the right file to this node"}, sums)) findings.push_back(std::move(odd));
  }
  return verdict_of(std::move(findings));
}

run::Verdict judge_running(const plan::Step& step, std::string_view expectation, const run::StepResult& result) {
  if (!complete(result)) return reject(Errc::not_ready, step.node + ": the containers could not be asked");
  std::map<std::string, std::string> states;
  for (const auto& line : values(result.out, "container")) states[line.substr(0, line.find(' '))] = line.substr(std::min(line.find(' ') + 1, line.size()));
  for (const auto& name : object_of(expectation).value("names", std::vector<std::string>{})) {
    const auto state = states.contains(name) ? states[name] : std::string("missing");
    if (state == "running 0 0 ours") continue;
    return reject(Errc::not_ready, step.node + ": container " + name + ": expected running, not restarted and of this run, got " + text::printable(state));
  }
  return accept();
}

run::Verdict judge_locks(const plan::Stage&, std::string_view expectation, const NodeOutputs& nodes) {
  auto verdict = accept();
  const auto names = object_of(expectation).value("names", Json::object());
  std::size_t unreachable = 0;
  for (const auto& node : nodes) {
    if (node.result == nullptr || !node.result->error) continue;
    const auto code = node.result->error->code;
    const bool silent = code == Errc::unreachable || code == Errc::auth || code == Errc::host_key || code == Errc::timeout || code == Errc::lost;
    if (!silent) return reject(code, node.result->error->message, node.result->error->hint);
    ++unreachable;
    Finding finding;
    finding.check = "lock";
    finding.node = node.node;
    finding.status = FindingStatus::warn;
    std::string what;
    for (const auto& name : names.value(node.node, std::vector<std::string>{})) what += (what.empty() ? "" : ", ") + name;
    finding.message = "cannot be reached: " + (what.empty() ? "what runs there" : what) + " may still run; the next start or stop removes it";
    finding.got = node.result->error->message;
    verdict.findings.push_back(std::move(finding));
  }
  if (unreachable == nodes.size()) return reject(nodes.front().result->error->code, nodes.front().result->error->message, nodes.front().result->error->hint);
  return verdict;
}

}  // namespace sskj::recipes
