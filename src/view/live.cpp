#include "live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "columns.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"
#include "summary.hpp"
#include "text_common.hpp"

namespace sskj::view {

namespace {

constexpr Millis k_between_frames{100};  // at most 10 redraws a second
constexpr Millis k_first_frame{400};     // a run that ends sooner needs no table
constexpr std::size_t k_bar = 12;        // columns of a bar without its brackets

struct Line {
  std::string name, what;
  std::vector<std::string> right;  ///< what stands at the right, the longest form first
  Tone tone = Tone::plain;
};

std::string bar(std::size_t done, std::size_t total) {
  const std::size_t filled = std::min(k_bar, total == 0 ? 0 : done * k_bar / total);
  std::string text(filled, '=');
  if (filled > 0 && filled < k_bar) {
    text.back() = '>';
  }
  return fmt::format("[{}{}]", text, std::string(k_bar - filled, ' '));
}

bool well(run::HostClass host) { return host == run::HostClass::ok || host == run::HostClass::skipped; }

// What a node is at: the key by which a large table folds.
Line line_of(const NodeState& node, bool interrupted) {
  if (node.ended) {
    const bool good = well(*node.ended);
    const bool unfinished = interrupted && *node.ended == run::HostClass::skipped;
    std::string what{unfinished ? "not finished" : run::to_string(*node.ended)};
    std::replace(what.begin(), what.end(), '_', ' ');
    what += good || node.failed.empty() ? "" : ": " + node.failed;
    return {{}, what, {}, *node.ended == run::HostClass::ok ? Tone::good : (good ? Tone::dim : Tone::bad)};
  }
  if (!node.failed.empty()) {
    return {{}, "FAILED: " + node.failed, {}, Tone::bad};
  }
  if (node.cancelled) {
    return {{}, "cancelled", {}, Tone::dim};
  }
  if (!node.busy) {
    return {{}, node.activity.empty() ? "waiting" : node.activity + ": done, waiting for the others", {}, Tone::dim};
  }
  return {{}, node.activity + (node.detail.empty() ? "" : " · " + node.detail), {}, Tone::plain};
}

std::vector<std::string> forms(const std::string& bar, const std::string& count, const std::string& elapsed) {
  if (count.empty()) {
    return {elapsed};
  }
  return {fmt::format("{} {:>7} {}", bar, count, elapsed), fmt::format("{:>7} {}", count, elapsed), count};
}

std::string elapsed_since(Millis since, Millis now) { return fmt::format("{:>6}", clock_text((now - since).count())); }

std::vector<std::string> right_of(const NodeState& node, Millis now) {
  if (node.ended) {
    return {};
  }
  const bool counts = node.total > 0 && node.busy;
  return forms(bar(node.done, node.total), counts ? fmt::format("{}/{}", node.done, node.total) : std::string{}, elapsed_since(node.since, now));
}

bool was_interrupted(const Model& model) { return model.finished && model.finished->interrupted; }

std::vector<Line> node_lines(const Model& model) {
  std::vector<Line> lines;
  for (const NodeState& node : model.nodes) {
    Line line = line_of(node, was_interrupted(model));
    line.name = text::printable(node.id);
    line.right = right_of(node, model.now);
    lines.push_back(std::move(line));
  }
  return lines;
}

struct Fold {
  Line line;
  std::vector<std::string> nodes;
  std::size_t least = 0, most = 0, total = 0;
  Millis since{0};
};

std::vector<Line> folded_lines(const Model& model) {
  std::vector<Fold> folds;
  for (const NodeState& node : model.nodes) {
    Line line = line_of(node, was_interrupted(model));
    const std::size_t total = node.busy && !node.ended ? node.total : 0;
    const auto at = std::find_if(folds.begin(), folds.end(), [&](const Fold& fold) { return fold.line.what == line.what && fold.total == total; });
    Fold& fold = at == folds.end() ? folds.emplace_back(Fold{std::move(line), {}, node.done, node.done, total, node.since}) : *at;
    fold.nodes.push_back(node.id);
    fold.least = std::min(fold.least, node.done);
    fold.most = std::max(fold.most, node.done);
    fold.since = std::min(fold.since, node.since);
  }
  std::vector<Line> lines;
  for (Fold& fold : folds) {
    fold.line.name = fmt::format("{:>4} {}", fold.nodes.size(), text::printable(nodeset::fold(fold.nodes)));
    if (!model.finished) {
      const std::string range = fold.least == fold.most ? fmt::format("{}", fold.least) : fmt::format("{}-{}", fold.least, fold.most);
      const std::string count = fold.total == 0 ? std::string{} : fmt::format("{}/{}", range, fold.total);
      fold.line.right = forms(bar(fold.least, fold.total), count, elapsed_since(fold.since, model.now));
    }
    lines.push_back(std::move(fold.line));
  }
  return lines;
}

std::string header(const Model& model, std::size_t width) {
  std::string text = text::printable(model.verb + (model.deployment.empty() ? "" : " " + model.deployment));
  const StageRecord* stage = current_stage(model);
  if (stage != nullptr && !model.finished) {
    text += stage->undo ? " · undo" : (stage->count > 0 ? fmt::format(" · stage {}/{}", stage->number, stage->count) : std::string{});
    text += " · " + text::printable(stage->title);
  }
  const std::string elapsed = " · " + clock_text((model.now - model.started.value_or(model.now)).count());
  return cut(text, width - std::min(width, columns(elapsed))) + elapsed;
}

// The longest form at the right that leaves room for some words; none where even the shortest does not.
std::string fitting(const Line& line, std::size_t name_width, std::size_t width) {
  const std::size_t words = std::min<std::size_t>(columns(line.what), 24);
  for (const std::string& form : line.right) {
    if (name_width + 2 + words + 1 + columns(form) <= width) {
      return form;
    }
  }
  return {};
}

std::vector<Line> visible_lines(const Context& context) {
  const Model& model = context.model;
  const std::size_t height = std::max(context.output.height, 4U) - 2;
  const bool fold = model.nodes.size() > context.options.fold_above || model.nodes.size() + 1 > height;
  std::vector<Line> lines = fold ? folded_lines(model) : node_lines(model);
  if (lines.size() + 1 > height) {
    const std::size_t hidden = lines.size() + 2 - height;
    lines.resize(height - 2);
    lines.push_back({fmt::format("… {} more", hidden), {}, {}, Tone::dim});
  }
  return lines;
}

std::vector<std::string> frame(const Context& context, std::vector<std::size_t>& widths) {
  const bool color = context.output.err_color;
  const std::size_t width = std::max(context.output.width, 20U) - 1;  // the last column stays free: writing there wraps on some terminals
  const std::vector<Line> lines = visible_lines(context);
  std::size_t name_width = 4;
  for (const Line& line : lines) {
    name_width = std::max(name_width, columns(line.name));
  }
  name_width = std::min(name_width, std::max<std::size_t>(width / 3, 8));
  const std::string top = header(context.model, width);
  std::vector<std::string> result{paint(Tone::bold, top, color)};
  widths.assign(1, columns(top));
  for (const Line& line : lines) {
    const std::string right = fitting(line, name_width, width);
    const std::size_t room = width - std::min(width, name_width + 2 + (right.empty() ? 0 : columns(right) + 1));
    const std::string what = right.empty() ? cut(line.what, room) : pad(line.what, room) + " ";
    result.push_back(pad(line.name, name_width) + "  " + paint(line.tone, what, color) + right);
    widths.push_back(name_width + 2 + columns(what) + columns(right));
  }
  return result;
}

// A terminal that became narrower has wrapped the lines that stand on it.
std::size_t rows_of(const std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t rows = 0;
  for (const std::size_t columns : widths) {
    rows += columns == 0 ? 1 : (columns + width - 1) / width;
  }
  return rows;
}

std::string erase(Context& context) {
  const std::size_t rows = rows_of(context.live.widths, std::max(context.output.width, 1U));
  context.live.widths.clear();
  return rows == 0 ? std::string{} : fmt::format("\r\x1b[{}A\x1b[J", rows);
}

// Lines are overwritten in place and cleared to their end, so that nothing flickers.
std::string draw(Context& context) {
  const std::size_t rows = rows_of(context.live.widths, std::max(context.output.width, 1U));
  std::string text = rows == 0 ? std::string{} : fmt::format("\r\x1b[{}A", rows);
  for (const std::string& line : frame(context, context.live.widths)) {
    text += line + "\x1b[K\n";
  }
  context.live.drawn = context.model.now;
  context.live.dirty = false;
  return text + "\x1b[J";
}

void finish(Context& context) {
  const Options& options = context.options;
  const bool answers = !options.answer.empty() || options.remote_output != RemoteOutput::hidden;
  if (context.live.drawn) {
    context.output.err.write(answers ? erase(context) : draw(context));
    context.live.widths.clear();
  }
  context.output.err.drain(k_drain_limit);
  context.output.out.write(answer_text(context.model, options, context.output.out_color));
  context.output.out.drain(k_drain_limit);
  context.output.err.write(folded_errors(context.model) + cuts_text(context.model) + ending(context.model, options, context.output.err_color));
  context.output.err.drain(k_drain_limit);
}

}  // namespace

void human_say(Context& context, const std::string& text) {
  if (text.empty()) {
    return;
  }
  const bool shown = !context.live.widths.empty();
  const std::string erased = erase(context);
  context.output.err.write(erased + text + (shown ? draw(context) : std::string{}));
}

void human_on(Context& context, const run::Event& event) {
  human_say(context, verbose_text(context, event));
  context.live.dirty = true;
  if (std::holds_alternative<run::RunFinished>(event)) {
    finish(context);
  }
}

void human_tick(Context& context) {
  const Model& model = context.model;
  if (model.finished || !model.started || context.options.verbosity < 0 || context.output.err.pending() > 0) {
    return;  // a reader that does not keep up gets fewer frames, not later ones
  }
  const Millis last = context.live.drawn.value_or(*model.started - k_between_frames);
  const bool first = !context.live.drawn;
  const bool due = first ? model.now - *model.started >= k_first_frame : model.now - last >= k_between_frames;
  const bool second = model.now / 1000 != last / 1000;  // elapsed times count in seconds
  if (due && (first || context.live.dirty || second)) {
    context.output.err.write(draw(context));
  }
}

void human_resized(Context& context) {
  context.live.dirty = true;
  if (context.live.drawn && !context.model.finished) {
    const std::string erased = erase(context);
    context.output.err.write(erased + draw(context));
  }
}

}  // namespace sskj::view
