// A plan that uses every field and every kind of step.
#pragma once

#include "sskj/core/sha256.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::plan {

inline Step script_step(std::string id, std::string node, std::string script) {
  Step step;
  step.id = std::move(id);
  step.title = "run " + step.id;
  step.node = std::move(node);
  step.action = RunScript{.script = std::move(script)};
  return step;
}

inline Step put_step(std::string id, std::string node, std::string path, std::string content, std::uint32_t mode = 0644) {
  Step step = script_step(std::move(id), std::move(node), "");
  PutFile put;
  put.path = std::move(path);
  put.mode = mode;
  put.sha256 = sha256_hex(content);
  put.content = std::move(content);
  step.action = std::move(put);
  return step;
}

inline Step secret_step(std::string id, std::string node, std::string path) {
  Step step = put_step(std::move(id), std::move(node), std::move(path), "", 0600);
  auto& put = std::get<PutFile>(step.action);
  put.content = SecretRef{"from_env:API_KEY"};
  put.secret_template = "KEY={secret}\n";
  put.sha256.clear();
  return step;
}

inline Step http_step(std::string id, std::string node) {
  Step step = script_step(std::move(id), std::move(node), "");
  HttpProbe probe;
  probe.port = 30000;
  probe.method = "POST";
  probe.target = "/v1/chat/completions";
  probe.body = R"({"q": "23*47"})";
  probe.bearer = SecretRef{"from_file:/etc/key"};
  probe.poll_every = Millis{2000};
  probe.verdict = {"http-200", R"({"a":1})"};
  step.action = probe;
  step.failure = Errc::not_ready;
  return step;
}

inline Step check_step(std::string id, std::string node) {
  Step step = script_step(std::move(id), std::move(node), "");
  step.action = CheckNode{"nvidia-smi\n", {"gpu-idle", R"({"gpus":8})"}};
  step.on_failure = OnFailure::tolerate;
  return step;
}

inline Step follow_step(std::string id, std::string node) {
  Step step = script_step(std::move(id), std::move(node), "");
  step.action = RunScript{.script = "docker logs -f x\n", .mutates = false, .follow = true, .engine_log = true};
  step.deadline = Millis{0};
  return step;
}

inline Plan sample_plan() {
  Plan plan;
  plan.verb = "start";
  plan.deployment = "kimi";
  plan.profile = "kimi3.env";
  plan.deadline = std::chrono::minutes(45);
  plan.redact = {SecretRef{"from_env:API_KEY"}};
  for (const char* id : {"10.0.0.1", "10.0.0.2"}) {
    Node node;
    node.id = id;
    node.ssh = {.host = id, .user = "root", .port = 2222, .identity_file = "/k", .jump = "none", .sudo = true};
    node.data_address = "192.168.0.1";
    plan.nodes.push_back(node);
  }
  Stage first;
  first.id = "put";
  first.title = "place files";
  first.order = Order::one_by_one;
  first.steps = {put_step("put.1", "10.0.0.1", "/opt/a b/p.py", "print('a\\n')\n"), put_step("put.2", "10.0.0.2", "/opt/bin", std::string("\xff\0\x80", 3)),
                 secret_step("secret.1", "10.0.0.1", "/var/lib/sskj/key.env")};
  first.undo = {script_step("undo.1", "10.0.0.1", "rm -f x\n")};
  plan.heartbeat = Heartbeat{"put", std::chrono::seconds(5), {script_step("beat.1", "10.0.0.1", "beat\n")}};
  Stage second;
  second.id = "ready";
  second.title = "wait until ready";
  second.steps = {check_step("check.1", "10.0.0.1"), http_step("http.1", "10.0.0.2")};
  second.watch = {follow_step("watch.1", "10.0.0.1"), follow_step("watch.2", "10.0.0.2")};
  second.verdict = Judgement{"agreement", R"(["image"])"};
  second.deadline = std::chrono::minutes(20);
  second.only_if = OnlyIf::previous_failed;
  second.only_if_stage = "put";
  second.on_failure = OnFailure::tolerate;
  second.settles = {"put"};
  plan.stages = {first, second};
  Stage last;
  last.id = "unlock";
  last.title = "release the lock";
  last.steps = {script_step("unlock.1", "10.0.0.1", "rm lock"), script_step("unlock.2", "10.0.0.2", "rm lock")};
  last.only_if = OnlyIf::always;
  plan.always = {last};
  return plan;
}

}  // namespace sskj::plan
