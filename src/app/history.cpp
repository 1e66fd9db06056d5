#include "history.hpp"

#include <algorithm>

#include "environment.hpp"
#include "execute.hpp"
#include "run_record.hpp"
#include "sskj/view/runs.hpp"
#include "sskj/view/tables.hpp"

namespace sskj::app {
namespace {

std::optional<view::Millis> elapsed_of(const run::RunRecord& record, std::int64_t now) {
  if (record.finished) return record.finished->elapsed;
  const auto until = record.state == run::RunState::running ? std::optional<std::int64_t>(now) : record.last_sign;
  if (!until || record.started == 0) return std::nullopt;
  return view::Millis(std::max<std::int64_t>(*until - record.started, 0) * 1000);
}

view::RunRow row_of(const run::RunRecord& record, std::int64_t now) {
  view::RunRow row;
  row.run = record.info.run;
  row.verb = record.info.verb;
  row.deployment = record.info.deployment;
  row.profile = record.info.profile;
  row.started = run::format_time(record.started);
  row.elapsed = elapsed_of(record, now);
  row.state = run::to_string(record.state);
  if (record.finished) row.exit_code = static_cast<int>(record.finished->code);
  row.interrupted = record.finished && record.finished->interrupted;
  row.directory = record.directory;
  row.command = record.info.command;
  row.pid = record.info.pid;
  return row;
}

}  // namespace

ExitCode history(const Request& request, view::Output& output) {
  const auto records = chosen_runs(request);
  if (!records) return report(request, output, records.error());
  const std::int64_t now = wall_millis() / 1000;
  std::vector<view::RunRow> rows;
  for (const run::RunRecord& record : *records) rows.push_back(row_of(record, now));
  view::show_runs(output, view_options(request), rows);
  if (rows.empty() && request.output == Output::text) view::show_note(output, view_options(request), "no run has left a record in " + runs_directory());
  return ExitCode::done;
}

}  // namespace sskj::app
