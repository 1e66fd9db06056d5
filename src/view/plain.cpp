#include "plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "columns.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"
#include "summary.hpp"
#include "text_common.hpp"

namespace sskj::view {

namespace {

constexpr Millis k_gather{1'000};     // changes of several nodes within this time share one line
constexpr Millis k_count_every{30'000};
constexpr std::size_t k_set_columns = 60;
constexpr Millis k_long_stage{10'000};  // a stage that took longer says so
constexpr Millis k_heartbeat{50'000};  // below a minute even when ticks come late

std::string time_text(const Context& context) {
  if (context.options.wall_time) {
    return context.options.wall_time();
  }
  return "+" + clock_text((context.model.now - context.model.started.value_or(context.model.now)).count());
}

void line(Context& context, std::string_view text) {
  context.output.err.write(fmt::format("{} {}\n", time_text(context), text));
  context.plain.written = context.model.now;
}

// A long set is named by its size and its beginning.
std::string set_text(const std::vector<std::string>& nodes) {
  const std::string set = text::printable(nodeset::fold(nodes));
  return columns(set) <= k_set_columns ? set : fmt::format("{} ({})", counted(nodes.size(), "node"), cut(set, k_set_columns));
}

void flush(Context& context) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const auto& [node, text] : context.plain.pending) {
    const auto at = std::find_if(groups.begin(), groups.end(), [text = &text](const auto& group) { return group.first == *text; });
    (at == groups.end() ? groups.emplace_back(text, std::vector<std::string>{}) : *at).second.push_back(node);
  }
  context.plain.pending.clear();
  context.plain.pending_since.reset();
  for (const auto& [text, nodes] : groups) {
    line(context, fmt::format("{} {}", set_text(nodes), text));
  }
}

void change(Context& context, const std::string& node, const std::string& text) {
  context.plain.pending.emplace_back(node, text);
  if (!context.plain.pending_since) {
    context.plain.pending_since = context.model.now;
  }
}

std::string count_text(const run::Phase& phase) {
  return text::printable(phase.name) + (phase.total > 0 ? fmt::format(" {}/{}", phase.done, phase.total) : std::string{});
}

struct Plain {
  Context& context;

  template <class Other>
  void operator()(const Other&) const {}

  void operator()(const run::RunStarted&) const {
    const Model& model = context.model;
    line(context, text::printable(fmt::format("{}{}{}: {}{}", model.verb, model.deployment.empty() ? "" : " ", model.deployment, counted(model.nodes.size(), "node"),
                                              model.run.empty() ? "" : ", run " + model.run)));
  }

  void operator()(const run::StageStarted& event) const {
    const StageRecord& stage = *current_stage(context.model);
    const std::string place = event.undo ? "undo" : fmt::format("stage {}/{}", stage.number, stage.count);
    flush(context);
    line(context, fmt::format("{} {}", place, text::printable(stage.title)));
  }

  void operator()(const run::StageFinished& event) const {
    flush(context);
    const StageRecord& stage = *current_stage(context.model);
    if (event.skipped) {
      line(context, fmt::format("stage {} skipped", text::printable(stage.title)));
    } else if (event.ok && event.elapsed >= k_long_stage) {
      line(context, fmt::format("stage {} done in {}", text::printable(stage.title), clock_text(event.elapsed.count())));
    } else if (!event.ok && event.error && event.error->code == Errc::cancelled) {
      line(context, fmt::format("stage {} cut short after {}", text::printable(stage.title), clock_text(event.elapsed.count())));
    } else if (!event.ok) {
      line(context, fmt::format("stage {} failed after {}", text::printable(stage.title), clock_text(event.elapsed.count())));
    }
  }

  void operator()(const run::StepProgress& event) const {
    if (event.step != nullptr) {
      change(context, event.step->node, text::printable(event.text));
    }
  }

  void operator()(const run::StepRetried& event) const {
    if (event.step != nullptr) {
      change(context, event.step->node, text::printable(fmt::format("{}: again, because: {}", event.step->title, event.reason)));
    }
  }

  void operator()(const run::PhaseReported& event) const {
    const run::Phase& phase = event.phase;
    const auto at = context.plain.counted.find(phase.node);
    const bool other = !context.plain.phases.contains(phase.node) || context.plain.phases[phase.node] != phase.name;
    const bool whole = phase.total > 0 && phase.done == phase.total;
    const bool many = context.model.nodes.size() > context.options.fold_above;  // the heartbeat has their counts
    const bool due = !many && (at == context.plain.counted.end() || context.model.now - at->second >= k_count_every);
    if (phase.fatal) {
      change(context, phase.node, "FATAL in " + count_text(phase) + ": " + text::printable(phase.cause));
    } else if (other || (whole && !many) || due) {
      change(context, phase.node, many ? text::printable(phase.name) : count_text(phase));
      context.plain.counted[phase.node] = context.model.now;
    }
    context.plain.phases[phase.node] = phase.name;
  }

  void operator()(const run::StepFinished& event) const {
    const bool told = event.step != nullptr && is_failure(event.result.status) && event.result.status != run::StepStatus::cancelled;
    if (told && event.step->on_failure == plan::OnFailure::fail) {
      std::string why = event.result.error ? ": " + remote_line(event.result.error->message, 300) : "";
      const std::string prefix = ": " + event.step->node + ": ";  // the line begins with the node already
      why = why.starts_with(prefix) ? why.substr(prefix.size() - 2) : why;
      change(context, event.step->node, text::printable(fmt::format("{}: {}{}", event.step->title, run::to_string(event.result.status), why)));
    }
  }
};

struct Where {
  std::string activity;
  std::size_t nodes = 0, least = 0, most = 0, total = 0;
};

std::string where_text(const Where& where) {
  std::string text = fmt::format("{} {}", where.nodes, where.activity);
  if (where.total > 0) {
    text += where.least == where.most ? fmt::format(" {}/{}", where.most, where.total) : fmt::format(" {}-{}/{}", where.least, where.most, where.total);
  }
  return text;
}

// Where the nodes are, most of them first: "3 weights 37-41/96, 1 rendezvous".
std::string heartbeat_text(const Model& model) {
  std::vector<Where> places;
  for (const NodeState& node : model.nodes) {
    const std::string activity = !node.failed.empty() ? "failed" : (node.busy ? node.activity : std::string("waiting"));
    auto at = std::find_if(places.begin(), places.end(), [&](const Where& place) { return place.activity == activity; });
    if (at == places.end()) {
      at = places.insert(places.end(), Where{activity, 0, node.done, node.done, node.busy ? node.total : 0});
    }
    ++at->nodes;
    at->least = std::min(at->least, node.done);
    at->most = std::max(at->most, node.done);
  }
  std::stable_sort(places.begin(), places.end(), [](const Where& left, const Where& right) { return left.nodes > right.nodes; });
  const StageRecord* stage = current_stage(model);
  std::string text = fmt::format("still at it after {}", clock_text((model.now - model.started.value_or(model.now)).count()));
  text += stage == nullptr ? "" : fmt::format(", {}", text::printable(stage->title));
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 4); ++i) {
    text += (i == 0 ? ": " : ", ") + where_text(places[i]);
  }
  return text;
}

// A verb that answers a question (status, exec) is quick: its lines would only stand in the way of a script; the heartbeat stays.
bool chatty(const Context& context) {
  const Options& options = context.options;
  return options.verbosity >= 1 || (options.verbosity == 0 && options.answer.empty() && options.remote_output == RemoteOutput::hidden);
}

// `sskj logs -F | head -5`: whoever asked has seen enough, and that is no failure to speak of.
bool reader_left(const Context& context) {
  const bool stream = context.options.remote_output == RemoteOutput::prefixed;
  return stream && context.output.out.error() == EPIPE && context.model.finished && context.model.finished->code == ExitCode::done;
}

void finish(Context& context) {
  flush(context);
  context.output.err.drain(k_drain_limit);
  if (reader_left(context)) {
    return;
  }
  context.output.out.write(answer_text(context.model, context.options, context.output.out_color));
  context.output.out.drain(k_drain_limit);
  context.output.err.write(folded_errors(context.model) + cuts_text(context.model) + ending(context.model, context.options, false));
  context.output.err.drain(k_drain_limit);
}

}  // namespace

void plain_on(Context& context, const run::Event& event) {
  const std::string text = verbose_text(context, event);
  if (!text.empty()) {
    context.output.err.write(text);
    context.plain.written = context.model.now;
  }
  if (chatty(context)) {
    std::visit(Plain{context}, event);
  }
  if (std::holds_alternative<run::RunFinished>(event)) {
    finish(context);
  }
}

void plain_tick(Context& context) {
  const Model& model = context.model;
  if (!model.started || model.finished || context.options.verbosity < 0 || context.options.remote_output == RemoteOutput::prefixed) {
    return;
  }
  if (context.plain.pending_since && model.now - *context.plain.pending_since >= k_gather) {
    flush(context);
  }
  if (model.started && model.now - std::max(context.plain.written, *model.started) >= k_heartbeat) {
    line(context, heartbeat_text(model));
  }
}

}  // namespace sskj::view
