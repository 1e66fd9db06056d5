#include "attach.hpp"

#include <csignal>

#include <fmt/format.h>

#include "environment.hpp"
#include "execute.hpp"
#include "run_record.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/run/replay.hpp"
#include "sskj/view/renderer.hpp"

namespace sskj::app {
namespace {

constexpr run::Millis k_tick{100};  // ten redraws a second
constexpr run::Millis k_poll{200};  // looks for new events

// What the run's own command line asked for decides how it shows; how much of it, and in which form, is this command's.
Request as_that_run(const Request& request, const run::Replay& replay, const run::RunRecord& record) {
  Request like = request;
  like.verb = replay.plan().verb;
  like.command_line = record.info.command;
  return like;
}

class Attachment {
 public:
  Attachment(const Request& request, view::Output& output, const run::RunRecord& record, std::unique_ptr<run::Replay> replay)
      : request_(request), output_(output), record_(record), replay_(std::move(replay)), options_(options()), renderer_(view::choose_renderer(options_, output), options_, output) {}

  ExitCode run() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) loop_.on_signal(signal, [this] { leave(Errc::cancelled); });
    loop_.on_signal(SIGWINCH, [this] {
      view::refresh_size(output_);
      renderer_.resize(output_.width, output_.height);
    });
    if (request_.timeout) loop_.after(*request_.timeout, [this] { leave(Errc::timeout); });
    loop_.after(run::Millis{0}, [this] { read(); });
    tick();
    loop_.run();
    return code_;
  }

 private:
  view::Options options() {
    view::Options options = view_options(as_that_run(request_, *replay_, record_));
    options.timestamp = [this] { return at_; };
    return options;
  }

  void end(ExitCode code) {
    over_ = true;
    code_ = code;
    loop_.stop();
  }

  void read() {
    if (over_) return;
    const bool held = run::is_held(record_.directory);  // before reading: what a run writes before it ends is there then
    run::Replay::Batch batch = replay_->next();
    for (const std::string& note : batch.notes) renderer_.note(note);
    for (const run::ReadEvent& event : batch.events) {
      show(event);
      if (over_) return;
    }
    if (!batch.more && !held) return gone();
    live_ = !batch.more;
    loop_.after(batch.more ? run::Millis{0} : k_poll, [this] { read(); });
  }

  void show(const run::ReadEvent& read) {
    if (const auto at = run::parse_time(read.at)) {
      last_ = *at;
      if (!first_) first_ = last_;
      at_ = read.at;
      renderer_.catch_up(last_);
    }
    if (const auto* stage = std::get_if<run::StageStarted>(&read.event); stage != nullptr && stage->stage != nullptr) stage_ = stage->stage->title;
    renderer_.on(read.event);
    if (const auto* finished = std::get_if<run::RunFinished>(&read.event)) end(finished->code);
  }

  // The journal ends, and nobody is there to write on. On a full disk the summary may still say how the run ended.
  void gone() {
    const run::RunRecord record = run::read_run(runs_directory(), record_.info.run);
    return record.finished ? show({*record.finished, {}}) : died();
  }

  // Said by us in the run's place.
  void died() {
    const std::string heard = at_.empty() ? "it never said anything" : fmt::format("last heard of at {}{}", at_, stage_.empty() ? "" : " in stage \"" + stage_ + "\"");
    run::Finding finding;
    finding.check = "run";
    finding.status = run::FindingStatus::fail;
    finding.message = fmt::format("the run died: its process is gone without a last word (kill -9, out of memory, power loss, a full disk); {}. What it started on the nodes may still run", heard);
    finding.hint = record_.info.command.empty() ? "sskj history" : record_.info.command;
    finding.failure = Errc::not_ready;
    renderer_.on(run::FindingReported{std::move(finding)});
    run::RunFinished finished;
    finished.code = ExitCode::not_ready;
    finished.all_codes = {ExitCode::not_ready};
    finished.elapsed = first_ ? last_ - *first_ : run::Millis{0};
    finished.died = true;
    renderer_.on(finished);
    end(finished.code);
  }

  void leave(Errc why) {
    if (over_) return;
    const Error left{why, fmt::format("left run {} alone: it goes on", record_.info.run), "sskj attach " + record_.info.run};
    if (request_.output == Output::text) {
      renderer_.note(left.message + "; to look again: " + left.hint);
    } else {
      report(request_, output_, left);
    }
    end(exit_code_of(why));
  }

  void tick() {
    if (over_) return;
    if (live_) renderer_.tick(run::Millis(wall_millis()));
    if (output_.out.closed()) return end(ExitCode::interrupted);  // `sskj attach latest -o ndjson | head`
    loop_.after(k_tick, [this] { tick(); });
  }

  const Request& request_;
  view::Output& output_;
  const run::RunRecord& record_;
  net::Loop loop_;
  std::unique_ptr<run::Replay> replay_;
  view::Options options_;
  view::Renderer renderer_;
  std::string at_, stage_;            // of the last event, as written; of the stage that began last
  std::optional<run::Millis> first_;  // time of the first event and of the last, since 1970
  run::Millis last_{0};
  bool live_ = false;                 // all that was written is shown: from here on, time is this machine's clock
  bool over_ = false;
  ExitCode code_ = ExitCode::internal;
};

}  // namespace

ExitCode attach(const Request& request, view::Output& output) {
  const auto record = find_run(request, request.words.front());
  if (!record) return report(request, output, record.error());
  auto replay = run::Replay::open(record->directory, request.verbose >= 2);
  if (!replay) return report(request, output, replay.error());
  return Attachment(request, output, *record, std::move(*replay)).run();
}

}  // namespace sskj::app
