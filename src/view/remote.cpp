#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "columns.hpp"
#include "failures.hpp"
#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"
#include "sskj/run/journal.hpp"
#include "sskj/view/report.hpp"
#include "text_common.hpp"

namespace sskj::view {

namespace {

constexpr std::size_t k_max_line = std::size_t{64} << 10;        // bytes; a longer streamed line is shown in pieces
constexpr std::size_t k_growth = 3;                              // a byte that is not UTF-8 becomes three

std::string status_text(const run::StepResult& result) {
  std::string text{run::to_string(result.status)};
  if (result.exit_status && *result.exit_status != 0) {
    text += fmt::format(", status {}", *result.exit_status);
  }
  return text;
}

std::string elapsed_text(Millis elapsed) {
  return elapsed < Millis{60'000} ? fmt::format("{:.1f}s", static_cast<double>(elapsed.count()) / 1000) : clock_text(elapsed.count());
}

// Whole lines of `partial` as "node: line"; what has not ended stays, unless it is too long or the end has come.
std::string take_lines(std::string& partial, const std::string& node, bool end) {
  std::string result;
  std::size_t from = 0;
  while (from < partial.size()) {
    const std::size_t newline = partial.find('\n', from);
    const std::size_t rest = partial.size() - from;
    if (newline == std::string::npos && rest < k_max_line && !end) {
      break;
    }
    const std::size_t length = std::min(newline == std::string::npos ? rest : newline - from, k_max_line);
    result += fmt::format("{}: {}\n", node, remote_line(std::string_view(partial).substr(from, length), k_growth * k_max_line));
    from += length + (from + length == newline ? 1 : 0);
  }
  partial.erase(0, from);
  return result;
}

std::string streamed(Context& context, const run::StepOutput& event) {
  Partial& partial = context.model.partials[event.step->id];
  std::string& text = event.stream == run::Stream::out ? partial.out : partial.err;
  text += event.bytes;
  return take_lines(text, text::printable(event.step->node), false);
}

struct Verbose {
  Context& context;

  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }

  std::string operator()(const run::StepOutput& event) const {
    if (event.step == nullptr) {
      return {};
    }
    const bool answer = is_answer(context.model, context.options, *event.step);
    if (answer && context.options.remote_output == RemoteOutput::prefixed) {
      const std::string lines = streamed(context, event);
      (event.stream == run::Stream::out ? context.output.out : context.output.err).write(lines);
      return {};
    }
    const int level = event.watch ? 3 : 2;  // a followed log shows as phases; -vvv shows its lines too
    return !answer && context.options.verbosity >= level ? streamed(context, event) : std::string{};
  }

  std::string operator()(const run::FindingReported& event) const {
    const Options& options = context.options;
    const bool now = options.remote_output == RemoteOutput::prefixed && options.verbosity >= 0;
    return now ? remarks_text({event.finding}, false) : std::string{};
  }

  std::string operator()(const run::StepFinished& event) const {
    if (event.step == nullptr) {
      return {};
    }
    std::string result = rest_of(*event.step);
    const bool ended_watch = event.result.status == run::StepStatus::cancelled && context.model.watch_steps.contains(event.step->id);
    if (context.options.verbosity >= 1 && !ended_watch) {
      result += step_line(*event.step, event.result);
    }
    return result;
  }

 private:
  // The last line of a script need not end in a newline.
  std::string rest_of(const plan::Step& step) const {
    const auto at = context.model.partials.find(step.id);
    if (at == context.model.partials.end()) {
      return {};
    }
    const std::string node = text::printable(step.node);
    const std::string out = take_lines(at->second.out, node, true);
    const std::string err = take_lines(at->second.err, node, true);
    context.model.partials.erase(at);
    if (!is_answer(context.model, context.options, step)) {
      return out + err;
    }
    context.output.out.write(out);
    context.output.err.write(err);
    return {};
  }
};

// Nodes whose output of one stream was cut.
struct Cut {
  std::vector<std::string> nodes;
  std::string step;               // of the first node
  std::size_t kept = 0, more = 0;  // bytes, the most of any node
  bool streamed = true;
};

Cut cut_of(const Model& model, bool out) {
  Cut cut;
  for (const NodeState& node : model.nodes) {
    const auto at = model.texts.find(node.id);
    const std::size_t dropped = at == model.texts.end() ? 0 : (out ? at->second.out_dropped : at->second.err_dropped);
    if (dropped == 0) {
      continue;
    }
    cut.nodes.push_back(node.id);
    cut.step = cut.step.empty() ? at->second.step : cut.step;
    cut.kept = std::max(cut.kept, (out ? at->second.out : at->second.err).size());
    cut.more = std::max(cut.more, dropped);
    cut.streamed = cut.streamed && at->second.streamed;
  }
  return cut;
}

// What the run directory has of it, and where.
std::string record_text(const Model& model, const Cut& cut, std::string_view extension) {
  if (model.directory.empty() || model.directory_broken) {
    return "the rest is in no run directory; repeat with --prefix, which streams without a bound";
  }
  const bool whole = cut.streamed && cut.kept + cut.more <= run::k_max_output_file;
  const std::string has = whole ? "the run directory has the whole" : fmt::format("the run directory has no more than the first {} bytes", run::k_max_output_file);
  const std::string file = cut.nodes.size() == 1 ? fmt::format("{}/{}.{}", run::journal_file_name(cut.nodes.front()), run::journal_file_name(cut.step), extension) : std::string{};
  return fmt::format("{}: {}/nodes/{}", has, text::printable(model.directory), file);
}

// An answer that is not whole must not be taken for one.
std::string cut_text(const Model& model, bool out) {
  const Cut cut = cut_of(model, out);
  if (cut.nodes.empty()) {
    return {};
  }
  const std::string_view most = cut.nodes.size() == 1 ? "" : "up to ";
  return fmt::format("warning  {} of {} was cut at {} bytes, {}{} more came\n  {}\n", out ? "stdout" : "stderr", text::printable(nodeset::fold(cut.nodes)), cut.kept, most, cut.more,
                     record_text(model, cut, out ? "out" : "err"));
}

using Member = std::string NodeText::*;

std::string folded(const Model& model, Member stream, std::size_t NodeText::*dropped, std::string_view label) {
  std::vector<std::pair<const NodeText*, std::vector<std::string>>> groups;
  for (const NodeState& node : model.nodes) {
    const auto at = model.texts.find(node.id);
    if (at == model.texts.end() || (at->second.*stream).empty()) {
      continue;
    }
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first->*stream == at->second.*stream && group.first->*dropped == at->second.*dropped;
    });
    (same == groups.end() ? groups.emplace_back(&at->second, std::vector<std::string>{}) : *same).second.push_back(node.id);
  }
  std::string result;
  for (const auto& [text, nodes] : groups) {
    result += fmt::format("---------------\n{} ({}){}\n---------------\n", text::printable(nodeset::fold(nodes)), nodes.size(), label);
    for (const std::string& line : remote_lines(text->*stream, k_growth * k_max_text)) {
      result += line + "\n";
    }
    if (text->*dropped > 0) {
      result += fmt::format("… ({} more bytes were not kept)\n", text->*dropped);
    }
  }
  return result;
}

}  // namespace

std::string verbose_text(Context& context, const run::Event& event) { return std::visit(Verbose{context}, event); }

std::string step_line(const plan::Step& step, const run::StepResult& result) {
  std::string line = fmt::format("{} {}: {} ({})", step.node, step.title, status_text(result), elapsed_text(result.elapsed));
  if (result.attempts > 1) {
    line += fmt::format(" after {} attempts", result.attempts);
  }
  return text::printable(line) + "\n";
}

std::string answer_text(const Model& model, const Options& options, bool color) {
  std::string result = options.remote_output == RemoteOutput::folded ? folded(model, &NodeText::out, &NodeText::out_dropped, "") : std::string{};
  for (const auto& [kind, json] : model.reports) {
    if (options.verbosity >= 0 || kind == options.answer) {
      result += report_text(kind, json, color);
    }
  }
  return result;
}

std::string folded_errors(const Model& model) { return folded(model, &NodeText::err, &NodeText::err_dropped, " stderr"); }

std::string cuts_text(const Model& model) { return cut_text(model, true) + cut_text(model, false); }

}  // namespace sskj::view
