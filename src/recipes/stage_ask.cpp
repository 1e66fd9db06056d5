// Questions to the service: the long prompt that compiles kernels, and the one whose answer is known.
#include "stages.hpp"

namespace sskj::recipes {
namespace {

constexpr std::string_view k_chat = "/v1/chat/completions";
constexpr Millis k_models_timeout{25'000};
constexpr Millis k_slack{30'000};

/// About `tokens` tokens: single letters are one token each in byte-pair vocabularies, and keep the request small. Deterministic, without a period that a prefix cache
/// of an earlier question would know.
std::string long_prompt(unsigned tokens) {
  std::string text = "Read these letters and answer with one word.";
  std::uint32_t state = 1;
  for (unsigned i = 0; i < tokens; ++i) {
    state = state * 1664525U + 1013904223U;
    text += ' ';
    text += static_cast<char>('a' + (state >> 24U) % 26U);
  }
  return text;
}

std::string chat_body(const deploy::Group& group, const std::string& question, unsigned max_tokens, double temperature) {
  return Json{{"model", group.served_model},
              {"messages", Json::array({Json{{"role", "user"}, {"content", question}}})},
              {"max_tokens", max_tokens},
              {"temperature", temperature}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

const deploy::Rank* first_rank(const Context& context, const deploy::Group& group) {
  for (const auto& member : context.members(group)) {
    if (member.rank->rank == 0) return member.rank;
  }
  return nullptr;
}

plan::Step ask_step(const Context& context, const deploy::Group& group, const deploy::Rank& rank, std::string_view what) {
  plan::HttpProbe probe;
  probe.host = probe_host(group, rank);
  probe.port = rank.api_port;
  probe.bearer = group.api_key;
  plan::Step step;
  step.id = context.id(what, Member{&group, &rank});
  step.node = rank.node;
  step.action = std::move(probe);
  step.failure = Errc::not_ready;
  step.hint = "look at the service: " + context.command("status") + "; " + context.command("logs --rank 0");
  return step;
}

plan::Step models_step(const Context& context, const deploy::Group& group, const deploy::Rank& rank) {
  auto step = ask_step(context, group, rank, "models");
  step.title = "ask which models are served";
  auto& probe = std::get<plan::HttpProbe>(step.action);
  probe.target = "/v1/models";
  probe.request_timeout = k_models_timeout;
  probe.verdict = {"models", Json{{"model", group.served_model}}.dump()};
  step.deadline = k_models_timeout + k_slack;
  return step;
}

}  // namespace

bool answers(const deploy::Group& group) { return !group.served_model.empty(); }

plan::Stage warm_stage(const Context& context, const deploy::Group& group) {
  plan::Stage stage;
  stage.id = context.stage_id("warm", group);
  stage.title = "warm up with a long prompt";
  const auto* rank = first_rank(context, group);
  if (rank == nullptr) return stage;
  auto step = ask_step(context, group, *rank, "warm");
  step.title = "send a prompt of about " + std::to_string(group.warmup.prompt_tokens) + " tokens";
  auto& probe = std::get<plan::HttpProbe>(step.action);
  probe.method = "POST";
  probe.target = k_chat;
  probe.body = chat_body(group, long_prompt(group.warmup.prompt_tokens), group.warmup.max_tokens, 0.0);
  probe.request_timeout = group.warmup.timeout;
  probe.verdict = {"warm", "{}"};
  step.deadline = group.warmup.timeout + k_slack;
  stage.steps.push_back(std::move(step));
  return stage;
}

plan::Stage smoke_stage(const Context& context, const deploy::Group& group) {
  plan::Stage stage;
  stage.id = context.stage_id("smoke", group);
  stage.title = "ask a question whose answer is known";
  const auto* rank = first_rank(context, group);
  if (rank == nullptr) return stage;
  const auto& question = context.request.question.empty() ? group.smoke.question : context.request.question;
  const auto& expect = context.request.expect.empty() ? group.smoke.expect : context.request.expect;
  auto models = models_step(context, group, *rank);
  auto ask = ask_step(context, group, *rank, "smoke");
  ask.title = "ask: " + question;
  ask.failure = Errc::not_ready;
  auto& probe = std::get<plan::HttpProbe>(ask.action);
  probe.method = "POST";
  probe.target = k_chat;
  probe.body = chat_body(group, question, group.smoke.max_tokens, group.smoke.temperature);
  probe.request_timeout = group.smoke.timeout;
  probe.verdict = {"smoke", Json{{"expect", expect}, {"max_tokens_retry", group.smoke.max_tokens_retry}, {"retried", false}}.dump()};
  ask.deadline = 2 * group.smoke.timeout + k_slack;  // it may be asked twice
  stage.verdict = plan::Judgement{
      "smoke", Json{{"model", group.served_model}, {"question", question}, {"expected", expect}, {"models_step", models.id}, {"ask_step", ask.id}}.dump()};
  stage.steps.push_back(std::move(models));
  stage.steps.push_back(std::move(ask));
  return stage;
}

}  // namespace sskj::recipes
