#include "support/plan_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "sskj/core/base64.hpp"
#include "sskj/run/event_json.hpp"
#include "sskj/run/executor.hpp"
#include "support/event_log.hpp"
#include "support/strict_fake_transport.hpp"

namespace sskj::test {
namespace {

using nlohmann::json;
using Bytes = std::map<std::string, std::vector<std::string>>;  // by node, in order

std::string string_of(const json& value) { return value.is_string() ? value.get<std::string>() : base64_decode(value.at("base64").get<std::string>()).value_or(""); }

std::string replaced(std::string text) {
  for (auto at = text.find("{secret}"); at != std::string::npos; at = text.find("{secret}", at)) text.replace(at, 8, k_test_secret);
  return text;
}

/// What one step of the JSON sends, as one comparable text.
std::string bytes_of(const json& step) {
  const json& action = step.at("action");
  const auto type = action.at("type").get<std::string>();
  if (type == "http_probe") {
    const std::string bearer = action.at("bearer").is_null() ? "" : k_test_secret;
    return fmt::format("{} http://{}:{}{}\n{}\n{}", string_of(action.at("method")), string_of(action.at("host")), action.at("port").get<int>(),
                       string_of(action.at("target")), bearer, string_of(action.at("body")));
  }
  if (type != "put_file") return string_of(action.at("script"));
  plan::PutFile put;
  put.path = string_of(action.at("path"));
  put.mode = static_cast<std::uint32_t>(std::stoul(action.at("mode").get<std::string>(), nullptr, 8));
  put.sha256 = action.at("sha256").get<std::string>();
  const bool secret = action.at("content").is_object() && action.at("content").contains("secret");
  if (secret) put.content = plan::SecretRef{};
  const std::string content = secret ? replaced(string_of(action.at("secret_template"))) : string_of(action.at("content"));
  return plan::put_script(put) + "\n<\n" + plan::put_input(put, content);
}

void add(Bytes& bytes, const json& steps) {
  for (const auto& step : steps) bytes[string_of(step.at("node"))].push_back(bytes_of(step));
}

/// Every step of the JSON: of each node in list order, watches of a stage before its steps, undo after the stages, `always` last.
Bytes expected_bytes(const json& plan) {
  Bytes bytes;
  for (const auto& stage : plan.at("stages")) {
    add(bytes, stage.at("watch"));
    add(bytes, stage.at("steps"));
  }
  for (const auto& stage : plan.at("stages")) add(bytes, stage.at("undo"));
  for (const auto& stage : plan.at("always")) {
    add(bytes, stage.at("watch"));
    add(bytes, stage.at("steps"));
  }
  return bytes;
}

/// The same steps without conditions: branches on a failure and undo are bytes that may be sent, too.
plan::Plan unconditional(plan::Plan plan) {
  const auto stages = plan.stages;
  for (auto& stage : plan.stages) {
    stage.only_if = plan::OnlyIf::always;
    stage.undo.clear();
  }
  for (const auto& stage : stages) {
    plan::Stage undo;
    undo.id = stage.id + ".undo-as-stage";
    undo.steps = stage.undo;
    plan.stages.push_back(undo);
  }
  return plan;
}

run::Drivers agreeable(const plan::Plan& plan) {
  run::Drivers drivers;
  run::Verdict ok;
  ok.ok = true;
  const auto add_judges = [&](const std::vector<plan::Step>& steps) {
    for (const auto& step : steps) {
      if (const auto* probe = std::get_if<plan::HttpProbe>(&step.action)) drivers.step_judges[probe->verdict.judge] = [ok](auto&&...) { return ok; };
      if (const auto* check = std::get_if<plan::CheckNode>(&step.action)) drivers.step_judges[check->verdict.judge] = [ok](auto&&...) { return ok; };
    }
  };
  for (const auto* stages : {&plan.stages, &plan.always}) {
    for (const auto& stage : *stages) {
      add_judges(stage.steps);
      if (stage.verdict) drivers.stage_judges[stage.verdict->judge] = [ok](auto&&...) { return ok; };
    }
  }
  drivers.secret = [](const plan::SecretRef&) -> Result<std::string> { return std::string(k_test_secret); };
  return drivers;
}

/// Keeps, per node, what arrives in the order in which it arrives, requests included.
class Recorder final : public run::Transport {
 public:
  Recorder(StrictFakeTransport& fake, const json& plan) : fake_(fake) {
    if (!plan.at("heartbeat").is_null()) add(beats_, plan.at("heartbeat").at("steps"));
  }
  run::CallId exec(const run::ExecRequest& request, run::ExecHandlers handlers) override {
    // How often a heart beats depends on the time that passes; what it sends must be in the JSON all the same.
    const auto& beats = beats_[request.node->id];
    if (std::find(beats.begin(), beats.end(), request.script) != beats.end()) return fake_.exec(request, std::move(handlers));
    std::string bytes(request.script);
    if (!request.input.empty() || bytes.find("$base.sskj-put.") != std::string::npos) bytes += "\n<\n" + std::string(request.input);
    received[request.node->id].push_back(std::move(bytes));
    return fake_.exec(request, std::move(handlers));
  }
  run::CallId http(const run::HttpRequest& request, std::function<void(run::HttpOutcome)> done) override {
    received[request.node->id].push_back(
        fmt::format("{} http://{}:{}{}\n{}\n{}", request.method, request.host, request.port, request.target, request.bearer, request.body));
    return fake_.http(request, std::move(done));
  }
  run::CallId after(Millis delay, std::function<void()> fire) override { return fake_.after(delay, std::move(fire)); }
  void cancel(run::CallId call) override { fake_.cancel(call); }
  [[nodiscard]] Millis now() const override { return fake_.now(); }

  Bytes received;

 private:
  StrictFakeTransport& fake_;
  Bytes beats_;
};

testing::AssertionResult same(const Bytes& expected, const Bytes& received) {
  for (const auto& [node, texts] : expected) {
    const auto found = received.find(node);
    const std::size_t count = found == received.end() ? 0 : found->second.size();
    for (std::size_t i = 0; i < std::min(count, texts.size()); ++i) {
      if (texts[i] == found->second[i]) continue;
      return testing::AssertionFailure() << node << ": call " << i + 1 << " differs; in the JSON:\n" << texts[i] << "\nreceived:\n" << found->second[i];
    }
    if (count != texts.size()) return testing::AssertionFailure() << node << ": the JSON has " << texts.size() << " steps, the transport received " << count;
  }
  if (received.size() != expected.size()) return testing::AssertionFailure() << "a node received something that the JSON does not hold";
  return testing::AssertionSuccess();
}

testing::AssertionResult hides_secrets(const plan::Plan& plan, const EventLog& log) {
  std::string all = plan::to_json(plan) + plan::to_text(plan);
  for (const auto& event : log.events()) all += run::event_to_json(event);
  if (all.find(k_test_secret) != std::string::npos) return testing::AssertionFailure() << "a secret's value is in the JSON, the text or an event";
  return testing::AssertionSuccess();
}

}  // namespace

testing::AssertionResult sends_exactly_its_json(const plan::Plan& plan) {
  if (const auto valid = plan::validate(plan); !valid) return testing::AssertionFailure() << valid.error().message;
  const std::string text = plan::to_json(plan);
  const auto again = plan::plan_from_json(text);
  if (!again) return testing::AssertionFailure() << again.error().message;
  if (!(*again == plan)) return testing::AssertionFailure() << "plan_from_json(to_json(plan)) is another plan";

  StrictFakeTransport fake;
  fake.accept_everything();
  for (const auto& stage : plan.stages) {
    for (const auto& step : stage.watch) {
      const std::string script = plan::script_of(step);
      fake.on_exec([node = step.node, script](const SentExec& exec) { return exec.node == node && exec.script == script; }, {reply().forever()});
    }
  }
  Recorder recorder(fake, json::parse(text));
  EventLog log;
  const plan::Plan all = unconditional(*again);
  run::Executor executor(all, recorder, log, agreeable(all), {}, {"run", plan::digest(plan), "2026-01-01T00:00:00Z"});
  std::optional<ExitCode> code;
  executor.start([&code](ExitCode ended) { code = ended; });
  fake.run_until_idle();
  if (!code || *code != ExitCode::done) return testing::AssertionFailure() << "the run over the accepting fake did not end with 0";
  if (auto compared = same(expected_bytes(json::parse(text)), recorder.received); !compared) return compared;
  return hides_secrets(plan, log);
}

}  // namespace sskj::test
