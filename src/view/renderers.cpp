#include <algorithm>
#include <array>

#include "json.hpp"
#include "live.hpp"
#include "model.hpp"
#include "plain.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

void no_tick(Context& /*context*/) {}

// table: renderers
constexpr std::array k_renderers{RendererRow{"human", "a live table on the terminal, one line per node", human_on, human_tick},
                                 RendererRow{"plain", "lines on change, for pipes and log files", plain_on, plain_tick},
                                 RendererRow{"json", "one JSON document at the end", json_on, json_tick},
                                 RendererRow{"ndjson", "one JSON event per line, as they happen", ndjson_on, no_tick}};

std::string_view name_for(const Options& options, const Output& output) {
  if (options.format != Format::text) {
    return options.format == Format::json ? "json" : "ndjson";
  }
  const bool table = output.live && options.verbosity >= 0 && options.remote_output != RemoteOutput::prefixed;
  return table ? "human" : "plain";
}

}  // namespace

std::span<const RendererRow> renderers() { return k_renderers; }

const RendererRow& choose_renderer(const Options& options, const Output& output) {
  const std::string_view name = name_for(options, output);
  const auto* const row = std::find_if(k_renderers.begin(), k_renderers.end(), [name](const RendererRow& entry) { return entry.name == name; });
  return row == k_renderers.end() ? k_renderers[1] : *row;
}

Renderer::Renderer(const RendererRow& row, Options options, Output& output) : context_(std::make_unique<Context>(Context{row, std::move(options), output, {}, {}, {}})) {
  // stdout is one document or one event a line: followed output is kept for the document, or is in the events already.
  RemoteOutput& remote = context_->options.remote_output;
  if (row.on == json_on && remote == RemoteOutput::prefixed) {
    remote = RemoteOutput::folded;
  } else if (row.on == ndjson_on) {
    remote = RemoteOutput::hidden;
  }
}

Renderer::~Renderer() = default;

void Renderer::on(const run::Event& event) {
  apply(context_->model, event, context_->options);
  context_->row.on(*context_, event);
}

void Renderer::tick(Millis now) {
  context_->model.now = std::max(context_->model.now, now);
  context_->output.out.flush();
  context_->output.err.flush();
  context_->row.tick(*context_);
}

void Renderer::catch_up(Millis at) {
  context_->model.now = std::max(context_->model.now, at);
  if (context_->row.on != human_on) {
    context_->row.tick(*context_);
  }
}

void Renderer::note(std::string_view text) {
  const std::string line = text::printable(text) + "\n";
  if (context_->options.verbosity < 0) {
    return;
  }
  if (context_->row.on == human_on) {
    human_say(*context_, line);
  } else {
    context_->output.err.write(line);
  }
}

void Renderer::directory_broken() { context_->model.directory_broken = true; }

void Renderer::resize(unsigned width, unsigned height) {
  context_->output.width = width;
  context_->output.height = height;
  if (context_->row.on == human_on) {
    human_resized(*context_);
  }
}

}  // namespace sskj::view
