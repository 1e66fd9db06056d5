// The one table of the plan's JSON form: each struct's fields, in both directions (a writer and a strict reader walk it).
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sskj/plan/plan.hpp"

namespace sskj::plan {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

inline constexpr std::array<EnumName<OnFailure>, 2> k_on_failure{{{OnFailure::fail, "fail"}, {OnFailure::tolerate, "tolerate"}}};
inline constexpr std::array<EnumName<Order>, 2> k_order{{{Order::parallel, "parallel"}, {Order::one_by_one, "one_by_one"}}};
inline constexpr std::array<EnumName<OnlyIf>, 3> k_only_if{
    {{OnlyIf::always, "always"}, {OnlyIf::previous_ok, "previous_ok"}, {OnlyIf::previous_failed, "previous_failed"}}};

constexpr const auto& names_of(OnFailure) { return k_on_failure; }
constexpr const auto& names_of(Order) { return k_order; }
constexpr const auto& names_of(OnlyIf) { return k_only_if; }

/// The `type` of an action in JSON, by its index in Action.
inline constexpr std::array<std::string_view, 4> k_action_types{"run_script", "put_file", "http_probe", "check_node"};
static_assert(k_action_types.size() == std::variant_size_v<Action>);

template <class V, Is<SshTarget> T>
void fields(V& v, T& x) {
  v("host", x.host), v("user", x.user), v("port", x.port), v("identity_file", x.identity_file), v("jump", x.jump), v("sudo", x.sudo);
}

template <class V, Is<Node> T>
void fields(V& v, T& x) {
  v("id", x.id), v("ssh", x.ssh), v("data_address", x.data_address);
}

template <class V, Is<SecretRef> T>
void fields(V& v, T& x) {
  v("secret", x.ref);
}

template <class V, Is<Judgement> T>
void fields(V& v, T& x) {
  v("judge", x.judge), v("expectation", x.expectation);
}

template <class V, Is<RunScript> T>
void fields(V& v, T& x) {
  v("script", x.script), v("mutates", x.mutates), v("follow", x.follow), v("engine_log", x.engine_log);
}

template <class V, Is<PutFile> T>
void fields(V& v, T& x) {
  v("path", x.path), v.octal("mode", x.mode), v("content", x.content), v("secret_template", x.secret_template), v("sha256", x.sha256);
}

template <class V, Is<HttpProbe> T>
void fields(V& v, T& x) {
  v("host", x.host), v("port", x.port), v("method", x.method), v("target", x.target), v("body", x.body), v("bearer", x.bearer);
  v("request_timeout_ms", x.request_timeout), v("poll_every_ms", x.poll_every), v("verdict", x.verdict);
}

template <class V, Is<CheckNode> T>
void fields(V& v, T& x) {
  v("script", x.script), v("verdict", x.verdict);
}

template <class V, Is<Step> T>
void fields(V& v, T& x) {
  v("id", x.id), v("title", x.title), v("node", x.node), v("action", x.action), v("deadline_ms", x.deadline), v("on_failure", x.on_failure);
  v("failure", x.failure), v("hint", x.hint);
}

template <class V, Is<Stage> T>
void fields(V& v, T& x) {
  v("id", x.id), v("title", x.title), v("steps", x.steps), v("order", x.order), v("watch", x.watch), v("verdict", x.verdict), v("undo", x.undo);
  v("deadline_ms", x.deadline), v("no_progress_ms", x.no_progress), v("only_if", x.only_if), v("only_if_stage", x.only_if_stage), v("on_failure", x.on_failure), v("settles", x.settles);
}

template <class V, Is<Heartbeat> T>
void fields(V& v, T& x) {
  v("stage", x.stage), v("every_ms", x.every), v("steps", x.steps);
}

template <class V, Is<Plan> T>
void fields(V& v, T& x) {
  v("schema_version", x.schema_version), v("verb", x.verb), v("deployment", x.deployment), v("profile", x.profile), v("nodes", x.nodes);
  v("redact", x.redact), v("stages", x.stages), v("always", x.always), v("deadline_ms", x.deadline), v("heartbeat", x.heartbeat);
}

}  // namespace sskj::plan
