#include "sskj/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "files.hpp"
#include "sskj/core/sha256.hpp"
#include "sskj/run/event_json.hpp"
#include "sskj/run/record.hpp"

namespace sskj::run {
namespace {

constexpr std::string_view k_unborn = ".new-";  // before the name of a directory that is being made; prune.cpp removes what was left so
constexpr std::size_t k_longest_name = 200;  // file systems allow 255; suffixes need some
}  // namespace

std::string journal_file_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && !out.empty());
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (out.empty()) return "%";
  if (out.size() > k_longest_name) out = out.substr(0, k_longest_name - 17) + "~" + sha256_hex(name).substr(0, 16);
  return out;
}

std::string journal_output_path(const std::string& directory, const plan::Step& step, Stream stream) {
  return fmt::format("{}/nodes/{}/{}.{}", directory, journal_file_name(step.node), journal_file_name(step.id), stream == Stream::out ? "out" : "err");
}

struct Journal::Impl {
  struct Output {
    File file;
    std::size_t size = 0;
  };

  JournalOptions options;
  std::string directory;
  File lock, events;
  bool broken = false;
  std::map<std::string, Output> outputs;  // by path; open while their step runs

  void failed(const std::string& what) {
    if (std::exchange(broken, true)) return;
    if (options.on_error) {
      options.on_error({Errc::internal, fmt::format("the journal in {} is incomplete from here on: {}: {}", directory, what, reason()), "free space, or set XDG_STATE_HOME to a directory elsewhere"});
    }
  }
  [[nodiscard]] std::string path_of(const plan::Step& step, Stream stream) const { return journal_output_path(directory, step, stream); }
  [[nodiscard]] tl::unexpected<Error> cannot(std::string_view what) const;
  [[nodiscard]] bool introduce(const std::string& place, const plan::Plan& plan) const;
  Result<void> make(const plan::Plan& plan, const std::string& place);
  void append(const plan::Step& step, Stream stream, std::string_view bytes);
  void close(const plan::Step& step);
  void keep(const StepFinished& event);
};

void Journal::Impl::append(const plan::Step& step, Stream stream, std::string_view bytes) {
  if (bytes.empty() || broken) return;
  const std::string path = path_of(step, stream);
  Output& output = outputs[path];
  if (!output.file) {
    if (!make_directories(path.substr(0, path.rfind('/')))) return failed(path);
    output.file = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
    if (!output.file) return failed(path);
  }
  if (output.size > options.max_output_file) return;
  const bool full = output.size + bytes.size() > options.max_output_file;
  const auto kept = bytes.substr(0, options.max_output_file - output.size);
  output.size += bytes.size();
  if (!write_all(output.file, kept) || (full && !write_all(output.file, "\n[cut here: larger than the journal keeps]\n"))) failed(path);
}

void Journal::Impl::close(const plan::Step& step) {
  for (const Stream stream : {Stream::out, Stream::err}) outputs.erase(path_of(step, stream));
}

void Journal::Impl::keep(const StepFinished& event) {
  if (event.step == nullptr) return;
  const bool streamed = outputs.contains(path_of(*event.step, Stream::out)) || outputs.contains(path_of(*event.step, Stream::err));
  const auto whole = [&](Stream stream, const std::string& bytes, std::size_t dropped) {
    append(*event.step, stream, bytes);
    if (dropped > 0) append(*event.step, stream, fmt::format("\n[{} bytes in the middle were not kept]\n", dropped));
  };
  if (!streamed) {
    whole(Stream::out, event.result.out, event.result.out_dropped);
    whole(Stream::err, event.result.err, event.result.err_dropped);
  }
  close(*event.step);
}

tl::unexpected<Error> Journal::Impl::cannot(std::string_view what) const {
  return fail(Errc::usage, fmt::format("the run directory {} cannot be {}: {}", directory, what, reason()), "set XDG_STATE_HOME to a directory that can be written");
}

bool Journal::Impl::introduce(const std::string& place, const plan::Plan& plan) const {
  return write_file(place + "/run.json", to_json(RunInfo{options.run, plan.verb, plan.deployment, plan.profile, options.command, options.pid}));
}

// Under another name first: a run directory that has its name is locked and holds its plan.
Result<void> Journal::Impl::make(const plan::Plan& plan, const std::string& place) {
  if (::mkdir(place.c_str(), k_directory_mode) != 0) return cannot("made");
  lock = open_directory(place);
  if (!lock || !lock_exclusively(lock)) return cannot("locked");
  if (!write_file(place + "/plan.json", plan::to_json(plan)) || !introduce(place, plan)) return cannot("written to");
  events = open_file(place + "/events.ndjson", O_WRONLY | O_CREAT | O_APPEND);
  if (!events) return cannot("written to");
  if (!rename_directory(place, directory)) return cannot("made");
  return {};
}

Result<std::unique_ptr<Journal>> Journal::open(const plan::Plan& plan, JournalOptions options) {
  auto impl = std::make_unique<Impl>();
  const std::string runs = options.state_directory + "/runs";
  const std::string name = journal_file_name(options.run);
  impl->directory = runs + "/" + name;
  impl->options = std::move(options);
  if (!make_directories(runs)) return impl->cannot("made");
  const std::string place = fmt::format("{}/{}{}", runs, k_unborn, name);
  if (auto made = impl->make(plan, place); !made) {
    std::error_code ignored;
    std::filesystem::remove_all(place, ignored);
    return tl::unexpected<Error>(std::move(made.error()));
  }
  return std::unique_ptr<Journal>(new Journal(std::move(impl)));
}

Result<std::unique_ptr<Journal>> Journal::adopt(const plan::Plan& plan, JournalOptions options, int lock) {
  auto impl = std::make_unique<Impl>();
  impl->directory = fmt::format("{}/runs/{}", options.state_directory, journal_file_name(options.run));
  impl->options = std::move(options);
  impl->lock = File(lock);
  struct stat held {}, named {};
  const bool same = ::fstat(lock, &held) == 0 && ::lstat(impl->directory.c_str(), &named) == 0 && S_ISDIR(held.st_mode) && held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (!same) return fail(Errc::usage, fmt::format("descriptor {} is not the run directory {}", lock, impl->directory), "a detached run is begun by sskj itself: see `sskj start --detach`");
  if (::fcntl(lock, F_SETFD, FD_CLOEXEC) != 0 || !lock_exclusively(impl->lock)) return impl->cannot("locked");
  impl->events = open_file(impl->directory + "/events.ndjson", O_WRONLY | O_CREAT | O_APPEND);
  if (!impl->events || !impl->introduce(impl->directory, plan)) return impl->cannot("written to");
  return std::unique_ptr<Journal>(new Journal(std::move(impl)));
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;
const std::string& Journal::directory() const { return impl_->directory; }
int Journal::lock_fd() const { return impl_->lock.fd(); }

void Journal::on(const Event& event) {
  const auto* over = std::get_if<RunFinished>(&event);
  if (impl_->broken && over == nullptr) return;
  EventJsonOptions json;
  if (impl_->options.now) json.at = impl_->options.now();
  if (const auto* output = std::get_if<StepOutput>(&event)) {  // raw bytes go to the node's file: twice would be too much
    if (output->step != nullptr) impl_->append(*output->step, output->stream, output->bytes);
    return;
  }
  if (const auto* finished = std::get_if<StepFinished>(&event)) impl_->keep(*finished);
  // One write a line: a reader after kill -9 meets whole lines, but for the last one at most.
  if (!impl_->broken && !write_all(impl_->events, event_to_json(event, json) + "\n")) impl_->failed("events.ndjson");
  // Tried on a full disk too: without it, a run that ended well would look like one that died.
  if (over != nullptr && !write_file(impl_->directory + "/summary.json", summary_json(*over, json))) impl_->failed("summary.json");
}

}  // namespace sskj::run
