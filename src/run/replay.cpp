#include "sskj/run/replay.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "files.hpp"
#include "sskj/run/journal.hpp"

namespace sskj::run {
namespace {

constexpr std::size_t k_chunk = std::size_t{256} << 10;     // bytes of events.ndjson read at once: a long journal does not keep signals waiting
constexpr std::size_t k_max_line = std::size_t{16} << 20;   // bytes of one event; the largest of ours (a step with output) is well below 1 MiB
constexpr std::size_t k_max_output = std::size_t{4} << 20;  // bytes of one output that are repeated: what a renderer keeps
constexpr std::size_t k_told = 3;                           // unreadable lines that are named one by one

}  // namespace

struct Replay::Impl {
  Impl(std::string where, plan::Plan of, bool with_output) : directory(std::move(where)), plan(std::move(of)), index(plan), all_output(with_output) {}

  void take(std::string_view line, Batch& batch);
  void unreadable(const std::string& why, Batch& batch);
  void add_output(const StepFinished& finished, Batch& batch) const;
  void add_stream(const plan::Step& step, Stream stream, Batch& batch) const;

  std::string directory;
  plan::Plan plan;
  PlanIndex index;
  bool all_output;
  File events;
  std::size_t offset = 0;     // of the next byte to read
  std::string pending;        // the beginning of a line
  bool skipping = false;      // inside a line that is too long
  std::size_t line = 0;       // number of the last whole line
  std::size_t faults = 0;
};

void Replay::Impl::unreadable(const std::string& why, Batch& batch) {
  ++faults;
  if (faults <= k_told) batch.notes.push_back(fmt::format("line {} of {}/events.ndjson is left out: {}", line, directory, why));
  if (faults == k_told + 1) batch.notes.push_back(fmt::format("more lines of {}/events.ndjson are unreadable and are left out", directory));
}

void Replay::Impl::add_stream(const plan::Step& step, Stream stream, Batch& batch) const {
  const std::string path = journal_output_path(directory, step, stream);
  const File file = open_file(path, O_RDONLY);
  struct stat info {};
  if (!file || ::fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode)) return;  // no file: the script wrote nothing
  auto bytes = read_some(file, 0, k_max_output);
  if (!bytes || bytes->empty()) return;
  const auto all = static_cast<std::size_t>(info.st_size);
  if (all > bytes->size()) batch.notes.push_back(fmt::format("{}: {} more bytes of {} are in {}", step.node, all - bytes->size(), step.title, path));
  batch.events.push_back({StepOutput{&step, stream, std::move(*bytes), false}, {}});
}

// The journal keeps output apart from the events: what a user asked to see comes back just before its step ends.
void Replay::Impl::add_output(const StepFinished& finished, Batch& batch) const {
  if (finished.step == nullptr || index.is_watch(finished.step->id)) return;
  const auto* script = std::get_if<plan::RunScript>(&finished.step->action);
  if (!all_output && (script == nullptr || !script->follow)) return;
  for (const Stream stream : {Stream::out, Stream::err}) add_stream(*finished.step, stream, batch);
}

void Replay::Impl::take(std::string_view text, Batch& batch) {
  ++line;
  if (std::exchange(skipping, false)) return unreadable(fmt::format("longer than {} bytes", k_max_line), batch);
  auto read = event_from_json(text, index);
  if (!read) return unreadable(read.error().message, batch);
  if (!*read) return;
  ReadEvent& event = **read;
  if (const auto* finished = std::get_if<StepFinished>(&event.event)) add_output(*finished, batch);
  batch.events.push_back(std::move(event));
}

Result<std::unique_ptr<Replay>> Replay::open(std::string directory, bool all_output) {
  const auto text = read_whole(directory + "/plan.json", plan::k_max_plan_json);
  if (!text) return fail(Errc::usage, fmt::format("the plan of the run in {} cannot be read: {}", directory, reason()), "sskj history");
  auto plan = plan::plan_from_json(*text);
  if (!plan) return fail(Errc::usage, fmt::format("{}/plan.json is not a plan: {}", directory, plan.error().message), "was it written by a newer sskj? The events are in " + directory + "/events.ndjson");
  return std::unique_ptr<Replay>(new Replay(std::make_unique<Impl>(std::move(directory), std::move(*plan), all_output)));
}

Replay::Replay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Replay::~Replay() = default;
const plan::Plan& Replay::plan() const { return impl_->plan; }
const std::string& Replay::directory() const { return impl_->directory; }

Replay::Batch Replay::next() {
  Batch batch;
  Impl& impl = *impl_;
  if (!impl.events) impl.events = open_file(impl.directory + "/events.ndjson", O_RDONLY);
  const auto read = impl.events ? read_some(impl.events, impl.offset, k_chunk) : std::nullopt;
  if (!read) return batch;
  impl.offset += read->size();
  batch.more = read->size() == k_chunk;
  std::string_view rest = *read;
  for (std::size_t newline = rest.find('\n'); newline != std::string_view::npos; newline = rest.find('\n')) {
    impl.pending.append(rest.substr(0, newline));
    rest.remove_prefix(newline + 1);
    const std::string text = std::exchange(impl.pending, {});
    impl.take(text, batch);
  }
  if (!impl.skipping) impl.pending.append(rest);
  if (impl.pending.size() > k_max_line) {
    impl.skipping = true;
    impl.pending.clear();
  }
  return batch;
}

}  // namespace sskj::run
