#include "sskj/view/runs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "columns.hpp"
#include "json_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

using nlohmann::ordered_json;

std::string valid(const std::string& text) { return text::to_valid_utf8(text); }

void write_json(Output& output, const Options& options, const ordered_json& document) {
  output.out.write(dump(document, options.format == Format::ndjson ? -1 : 2) + "\n");
}

std::string result_text(const RunRow& row) {
  if (!row.exit_code || *row.exit_code == 0) {
    return row.state;
  }
  return fmt::format("{} (exit {})", row.interrupted ? "interrupted" : row.state, *row.exit_code);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

ordered_json json_of(const RunRow& row) {
  return {{"run", valid(row.run)},
          {"verb", valid(row.verb)},
          {"deployment", valid(row.deployment)},
          {"profile", valid(row.profile)},
          {"started", valid(row.started)},
          {"elapsed_ms", row.elapsed ? ordered_json(row.elapsed->count()) : ordered_json(nullptr)},
          {"state", valid(row.state)},
          {"exit_code", row.exit_code ? ordered_json(*row.exit_code) : ordered_json(nullptr)},
          {"interrupted", row.interrupted},
          {"directory", valid(row.directory)},
          {"command", valid(row.command)},
          {"pid", row.pid > 0 ? ordered_json(row.pid) : ordered_json(nullptr)}};
}

}  // namespace

void show_runs(Output& output, const Options& options, std::span<const RunRow> rows) {
  if (options.format != Format::text) {
    ordered_json list = ordered_json::array();
    for (const RunRow& row : rows) {
      list.push_back(json_of(row));
    }
    write_json(output, options, {{"schema_version", 1}, {"runs", list}});
    return;
  }
  std::vector<std::vector<std::string>> cells{{"RUN", "VERB", "DEPLOYMENT", "STARTED", "TIME", "RESULT"}};
  for (const RunRow& row : rows) {
    cells.push_back({row.run, or_dash(row.verb), or_dash(row.deployment), row.started, row.elapsed ? clock_text(row.elapsed->count()) : "-", result_text(row)});
  }
  output.out.write(table(cells));
}

void show_detached(Output& output, const Options& options, const Detached& detached) {
  if (options.format != Format::text) {
    write_json(output, options,
               {{"schema_version", 1},
                {"verb", valid(detached.verb)},
                {"deployment", valid(detached.deployment)},
                {"run", valid(detached.run)},
                {"plan_digest", valid(detached.plan_digest)},
                {"run_directory", valid(detached.directory)},
                {"detached", true},
                {"pid", detached.pid},
                {"attach", valid(detached.attach)},
                {"exit_code", 0},
                {"exit_codes", ordered_json::array()}});
    return;
  }
  output.out.write(table({{"run:", detached.run}, {"attach:", detached.attach}}));
}

}  // namespace sskj::view
