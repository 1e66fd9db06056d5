#include "scenarios.hpp"

#include <algorithm>

namespace sskj::view::testing {

namespace {

using run::HostClass;
using run::StepStatus;

const run::RunVars k_vars{"20260821T120307-7f3a", "7f3a2c9e", "2026-08-21T12:03:07Z"};

plan::Step step(const std::string& stage, const std::string& title, const std::string& node, plan::Action action) {
  return {stage + "." + node, title, node, std::move(action), Millis{30'000}, plan::OnFailure::fail, Errc::step_failed, {}};
}

class Recorder {
 public:
  Recorder(std::string name, plan::Plan plan) : scenario_{std::move(name), std::make_shared<plan::Plan>(std::move(plan)), {}, {}} {
    scenario_.options.wall_time = [] { return std::string("12:03:07"); };
    scenario_.options.resume = "sskj " + scenario_.plan->verb + " -p kimi3_tp32ep32";
    add(run::RunStarted{scenario_.plan.get(), k_vars, "/home/op/.local/state/sskj/runs/" + k_vars.run});
  }

  Recorder& wait(int ms) {
    now_ += Millis{ms};
    return *this;
  }
  Recorder& add(run::Event event) {
    scenario_.events.push_back({now_, std::move(event)});
    return *this;
  }
  Options& options() { return scenario_.options; }
  const plan::Plan& plan() const { return *scenario_.plan; }

  Recorder& stage(std::size_t i) {
    began_ = now_;
    return add(run::StageStarted{&plan().stages[i], i + 1, plan().stages.size(), false});
  }
  Recorder& stage_end(std::size_t i, bool ok = true, std::optional<Error> error = {}) {
    return add(run::StageFinished{&plan().stages[i], ok, false, now_ - began_, std::move(error)});
  }
  Recorder& skip(std::size_t i) { return add(run::StageFinished{&plan().stages[i], false, true, Millis{0}, {}}); }

  Recorder& begin(std::size_t stage) {
    for (const auto& one : plan().stages[stage].steps) {
      add(run::StepStarted{&one});
    }
    return *this;
  }
  Recorder& finish(const plan::Step& one, StepStatus status, std::optional<Error> error = {}, std::string err = {}, std::optional<int> exit = 0) {
    run::StepResult result;
    result.step = one.id;
    result.node = one.node;
    result.status = status;
    result.error = std::move(error);
    result.err = std::move(err);
    result.exit_status = exit;
    result.elapsed = Millis{1200};
    return add(run::StepFinished{&one, std::move(result)});
  }
  Recorder& all(std::size_t stage, StepStatus status) {
    for (const auto& one : plan().stages[stage].steps) {
      finish(one, status);
    }
    return *this;
  }
  Recorder& quick(std::size_t i, StepStatus status = StepStatus::ok) { return stage(i).begin(i).wait(900).all(i, status).stage_end(i); }
  Recorder& phase(const std::string& node, const std::string& name, std::size_t done = 0, std::size_t total = 0) {
    return add(run::PhaseReported{{node, "ready.watch." + node, name, done, total, false, {}, {}, {}}});
  }

  Scenario end(ExitCode code, const std::vector<HostClass>& classes, std::vector<ExitCode> all = {}, bool interrupted = false) {
    run::HostSummary summary;
    for (std::size_t i = 0; i < plan().nodes.size(); ++i) {
      summary.hosts[plan().nodes[i].id] = classes[std::min(i, classes.size() - 1)];
    }
    if (all.empty() && code != ExitCode::done) {
      all.push_back(code);
    }
    add(run::RunFinished{code, std::move(all), std::move(summary), now_, interrupted});
    return std::move(scenario_);
  }

 private:
  Scenario scenario_;
  Millis now_{0};
  Millis began_{0};
};

run::Finding finding(const std::string& node, const std::string& got, const std::string& message) {
  return {"gpu-idle", run::FindingStatus::fail, node, "at most 1024 MiB in use", got, message, "ask the owner of the process, then: sskj start -p kimi3_tp32ep32", Errc::preflight};
}

Scenario preflight_failed() {
  Recorder record("preflight_failed", small_plan("start", 4));
  const auto& plan = record.plan();
  record.stage(0).begin(0).wait(1500);
  record.finish(plan.stages[0].steps[0], StepStatus::ok);
  for (std::size_t i : {1U, 2U}) {
    const auto& one = plan.stages[0].steps[i];
    run::StepResult result;
    result.step = one.id;
    result.node = one.node;
    result.status = StepStatus::failed;
    result.findings.push_back(finding(one.node, i == 1 ? "21432 MiB" : "9000 MiB", "GPU 3 of " + one.node + " is in use by another process"));
    result.error = Error{Errc::preflight, "a check failed", ""};
    record.add(run::FindingReported{result.findings.front()}).add(run::StepFinished{&one, result});
  }
  record.finish(plan.stages[0].steps[3], StepStatus::not_run, Error{Errc::unreachable, "174.1.60.8: tcp connect to port 22 timed out after 15s", "ssh 174.1.60.8 true"}, {}, {});
  record.add(run::FindingReported{{"disk-space", run::FindingStatus::warn, "174.1.60.5", "2 TiB", "1.9 TiB", "/data of 174.1.60.5 is nearly full", "", Errc::preflight}});
  record.add(run::FindingReported{{"peer-ssh", run::FindingStatus::unknown, "174.1.60.6", "", "", "could not be asked", "", Errc::preflight}});
  record.stage_end(0, false, Error{Errc::preflight, "preflight failed", ""});
  for (std::size_t i = 1; i < plan.stages.size(); ++i) {
    record.skip(i);
  }
  return record.end(ExitCode::unreachable, {HostClass::ok, HostClass::failed, HostClass::failed, HostClass::unreachable}, {ExitCode::unreachable, ExitCode::preflight});
}

Scenario rank_failed() {
  Recorder record("rank_failed", small_plan("start", 4));
  const auto& plan = record.plan();
  record.quick(0).quick(1, StepStatus::changed).quick(2, StepStatus::changed).stage(3).begin(3);
  for (const auto& node : plan.nodes) {
    record.phase(node.id, "weights", 12, 96);
  }
  record.wait(2500);
  record.add(run::PhaseReported{{"174.1.60.7", "ready.watch.174.1.60.7", "weights", 13, 96, true, "RuntimeError: Not enough GPU memory for hybrid mamba state cache\x1b[0m",
                                 "another process holds GPU memory on this node", "sskj exec -l 174.1.60.7 -- nvidia-smi"}});
  for (const auto& one : plan.stages[3].steps) {
    record.finish(one, StepStatus::cancelled, Error{Errc::cancelled, "cancelled because 174.1.60.7 failed", ""}, {}, {});
  }
  record.stage_end(3, false, Error{Errc::not_ready, "a rank failed while starting", ""}).skip(4).skip(5);
  return record.end(ExitCode::not_ready, {HostClass::ok, HostClass::ok, HostClass::failed, HostClass::ok});
}

Scenario step_failed() {
  Recorder record("step_failed", small_plan("start", 4));
  const auto& plan = record.plan();
  record.quick(0).stage(1).begin(1).wait(700);
  const std::string noise = "Unable to find image locally\ndocker: Error response from daemon: no space left on device.\nSee 'docker run --help'.\n";
  record.finish(plan.stages[1].steps[0], StepStatus::changed);
  for (std::size_t i : {1U, 2U}) {
    const auto& one = plan.stages[1].steps[i];
    record.finish(one, StepStatus::failed, Error{Errc::step_failed, one.node + ": docker run ended with status 125, expected 0", "sskj exec -l " + one.node + " -- df -h /var/lib/docker"}, noise, 125);
  }
  record.add(run::StepRetried{&plan.stages[1].steps[3], "connection lost"}).wait(300);
  record.finish(plan.stages[1].steps[3], StepStatus::lost, Error{Errc::lost, "174.1.60.8: the connection broke before the outcome was known", "sskj status -p kimi3_tp32ep32"}, {}, {});
  record.stage_end(1, false, Error{Errc::step_failed, "2 of 4 nodes failed", ""});
  return record.end(ExitCode::unreachable, {HostClass::ok, HostClass::failed, HostClass::failed, HostClass::lost}, {ExitCode::unreachable, ExitCode::step_failed});
}

Scenario interrupted() {
  plan::Plan made = small_plan("start", 4);
  made.always.push_back(made.stages.front());
  made.always.front().id = "unlock";
  made.always.front().title = "give the lock back";
  made.stages[2].only_if = plan::OnlyIf::previous_failed;
  Recorder record("interrupted", made);
  const auto& plan = record.plan();
  record.quick(0).stage(1).begin(1).wait(1700);
  for (const auto& one : plan.stages[1].steps) {
    record.finish(one, StepStatus::cancelled, Error{Errc::cancelled, "interrupted", ""}, {}, {});
  }
  record.stage_end(1, false, Error{Errc::cancelled, "interrupted", ""}).skip(2).skip(3).skip(4).skip(5);
  record.add(run::StageStarted{&plan.stages[1], 2, 6, true}).wait(400).stage_end(1);
  record.add(run::StageStarted{&plan.always[0], 7, 7, false, true}).wait(400);
  record.add(run::StageFinished{&plan.always[0], true, false, Millis{400}, {}});
  return record.end(ExitCode::interrupted, {HostClass::skipped}, {}, true);
}

Scenario deadline_passed() {
  Recorder record("deadline_passed", small_plan("start", 4));
  const auto& plan = record.plan();
  record.quick(0).quick(1, StepStatus::changed).quick(2, StepStatus::changed).stage(3).begin(3);
  for (const auto& node : plan.nodes) {
    record.phase(node.id, node.id == "174.1.60.6" ? "rendezvous" : "weights", 0, 0);
  }
  record.wait(2'700'000);
  for (const auto& one : plan.stages[3].steps) {
    record.finish(one, StepStatus::cancelled, Error{Errc::cancelled, "cancelled: the deadline of the run passed", ""}, {}, {});
  }
  record.stage_end(3, false, Error{Errc::timeout, "wait until ready did not end within 45m", "sskj logs -p kimi3_tp32ep32 --tail 50"});
  return record.end(ExitCode::deadline, {HostClass::skipped});
}

std::string status_report() {
  return R"j({"schema_version":1,"deployment":"kimi3_pro6000_sglang_tp32ep32","state":"degraded","endpoint":"http://174.1.60.5:30000",
    "groups":[{"name":"server","role":"server","state":"degraded","ranks":[
      {"rank":0,"node":"174.1.60.5","container":"kimi3_node0","state":"running","id":"f00d","exit_code":0,"restarts":0,"started_at":"2026-08-21T12:03:07.123456789Z",
       "image_id":"sha256:ab12cd34ef567890","run":"r","plan":"p","health":"ok","http_status":200,"diff":[]},
      {"rank":1,"node":"174.1.60.6","container":"kimi3_node1","state":"exited","id":"f00e","exit_code":137,"restarts":0,"started_at":"2026-08-21T12:03:07Z",
       "image_id":"sha256:ab12cd34ef567890","run":"r","plan":"p","health":"refused","http_status":0,"diff":[{"field":"env.NCCL_IB_HCA","want":"mlx5_0,mlx5_1","have":"mlx5_0"}]},
      {"rank":2,"node":"174.1.60.7","container":"kimi3_node2","state":"absent","health":"unknown","diff":[]},
      {"rank":3,"node":"174.1.60.8","container":"kimi3_node3"}]}],
    "lock":{"owner":"root","client":"ops1","since":"2026-08-21T11:00:00Z","verb":"start","run":"20260821T1100-1111"},
    "problems":["174.1.60.6: container exited with status 137 (killed)",{"message":"174.1.60.8: could not be asked","hint":"ssh 174.1.60.8 true"}]})j";
}

Scenario status_degraded() {
  Recorder record("status_degraded", small_plan("status", 4));
  record.options().answer = "status";
  record.stage(0).begin(0).wait(200).all(0, StepStatus::ok).add(run::ReportReady{{"status", status_report()}}).stage_end(0);
  return record.end(ExitCode::not_ready, {HostClass::ok, HostClass::ok, HostClass::ok, HostClass::unreachable}, {ExitCode::unreachable, ExitCode::not_ready});
}

Scenario smoke_wrong() {
  Recorder record("smoke_wrong", small_plan("smoke", 1));
  record.options().answer = "smoke";
  record.stage(0).begin(0).wait(200).all(0, StepStatus::ok);
  record.add(run::ReportReady{{"smoke", R"j({"schema_version":1,"model":"kimi-k3","models_ok":true,"question":"What is 23*47?","answer":"It is 1071.\u001b[31m","reasoning":"",
    "finish_reason":"stop","expected":"1081","correct":false,"elapsed_ms":830})j"}});
  record.stage_end(0, false, Error{Errc::wrong_answer, "asked \"What is 23*47?\", expected 1081, got \"It is 1071.\"", "sskj logs -p kimi3_tp32ep32"});
  return record.end(ExitCode::wrong_answer, {HostClass::ok});
}

}  // namespace

plan::Plan small_plan(const std::string& verb, std::size_t nodes) {
  plan::Plan plan;
  plan.verb = verb;
  plan.deployment = "kimi3_pro6000_sglang_tp32ep32";
  plan.profile = "kimi3_tp32ep32";
  for (std::size_t i = 0; i < nodes; ++i) {
    plan::Node node;
    node.id = "174.1." + std::to_string(60 + (i + 5) / 200) + "." + std::to_string((i + 5) % 200);
    plan.nodes.push_back(node);
  }
  const std::vector<std::pair<std::string, std::string>> stages{{"preflight", "checks before the start"}, {"run", "start the ranks"},     {"place", "place artifacts"},
                                                                {"ready", "wait until ready"},            {"warm", "long first request"}, {"smoke", "23*47"}};
  for (const auto& [id, title] : stages) {
    plan::Stage stage;
    stage.id = id;
    stage.title = title;
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::string& node = plan.nodes[i].id;
      const std::string name = id == "run" ? "start server rank " + std::to_string(i) : title;
      plan::RunScript script;
      script.script = "true\n";
      stage.steps.push_back(step(id, name, node, script));
      if (id == "ready") {
        script.follow = true;
        stage.watch.push_back(step("ready.watch", "follow the log", node, script));
      }
    }
    plan.stages.push_back(stage);
  }
  return plan;
}

Scenario start_done_on(std::size_t nodes) {
  Recorder record("start_done_" + std::to_string(nodes), small_plan("start", nodes));
  const auto& plan = record.plan();
  record.quick(0).quick(1, StepStatus::changed).quick(2, StepStatus::unchanged).stage(3).begin(3);
  for (const auto& one : plan.stages[3].watch) {
    record.add(run::StepStarted{&one});
  }
  for (const char* name : {"init", "rendezvous"}) {
    for (const auto& node : plan.nodes) {
      record.phase(node.id, name);
    }
    record.wait(2000);
  }
  for (std::size_t shard = 0; shard <= 96; shard += 8) {
    for (std::size_t i = 0; i < nodes; ++i) {
      record.phase(plan.nodes[i].id, "weights", shard - (i % 3 == 1 && shard > 0 ? 1 : 0), 96);
    }
    record.wait(12'000);
  }
  for (const auto& one : plan.stages[3].steps) {
    record.add(run::StepProgress{&one, "health: refused (loading)"});
  }
  record.wait(70'000);
  record.all(3, StepStatus::ok);
  for (const auto& one : plan.stages[3].watch) {
    record.finish(one, StepStatus::cancelled, Error{Errc::cancelled, "the stage is over", ""}, {}, {});
  }
  record.stage_end(3).quick(4).stage(5).begin(5).wait(900).all(5, StepStatus::ok);
  record.add(run::ReportReady{{"smoke", R"j({"schema_version":1,"model":"kimi-k3","models_ok":true,"question":"What is 23*47?","answer":"23 × 47 = 1081","reasoning":"",
    "finish_reason":"stop","expected":"1081","correct":true,"elapsed_ms":830})j"}});
  record.stage_end(5);
  return record.end(ExitCode::done, {HostClass::ok});
}

Scenario start_done() {
  Scenario scenario = start_done_on(4);
  scenario.name = "start_done";
  return scenario;
}

Scenario exec_folded() {
  plan::Plan plan = small_plan("exec", 5);
  plan.deployment.clear();
  plan.stages.resize(1);
  for (auto& one : plan.stages[0].steps) {
    std::get<plan::RunScript>(one.action).follow = true;
  }
  Recorder record("exec_folded", plan);
  record.options().remote_output = RemoteOutput::folded;
  record.stage(0).begin(0).wait(300);
  for (std::size_t i = 0; i < 4; ++i) {
    record.add(run::StepOutput{&record.plan().stages[0].steps[i], run::Stream::out, i == 3 ? "other\n" : "same\nsec\tond"});
  }
  record.add(run::StepOutput{&record.plan().stages[0].steps[3], run::Stream::err, "warning: 100%\rwarning: odd\r\n"});
  for (std::size_t i = 0; i < 4; ++i) {
    record.finish(record.plan().stages[0].steps[i], StepStatus::ok);
  }
  record.finish(record.plan().stages[0].steps[4], StepStatus::failed, Error{Errc::step_failed, "174.1.60.9: the command ended with status 7, expected 0", ""}, {}, 7);
  record.stage_end(0, false, Error{Errc::step_failed, "1 of 5 nodes failed", ""});
  return record.end(ExitCode::step_failed, {HostClass::ok, HostClass::ok, HostClass::ok, HostClass::ok, HostClass::failed});
}

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all{start_done(), preflight_failed(), rank_failed(), step_failed(), interrupted(), deadline_passed(), status_degraded(), smoke_wrong(), exec_folded()};
  all.push_back(start_done_on(200));
  Scenario quiet = preflight_failed();
  quiet.name = "quiet";
  quiet.options.verbosity = -1;
  Scenario verbose = step_failed();
  verbose.name = "verbose";
  verbose.options.verbosity = 1;
  all.push_back(std::move(quiet));
  all.push_back(std::move(verbose));
  return all;
}

Replayed replay(const Scenario& scenario, std::string_view name, bool color, unsigned width, unsigned height) {
  Replayed result;
  const auto counting = [&result](std::string_view bytes) {
    result.err.append(bytes);
    ++result.writes;
    return static_cast<std::int64_t>(bytes.size());
  };
  Output output{string_stream(result.out), OutputStream(counting, [](Millis) { return true; }), color, color, name == "human", width, height};
  const auto* row = std::find_if(renderers().data(), renderers().data() + renderers().size(), [name](const RendererRow& one) { return one.name == name; });
  Renderer renderer(*row, scenario.options, output);
  Millis now{0};
  for (const Timed& timed : scenario.events) {
    for (; now < timed.at; now += Millis{50}) {
      renderer.tick(now);
    }
    renderer.tick(timed.at);
    renderer.on(timed.event);
  }
  return result;
}

}  // namespace sskj::view::testing
