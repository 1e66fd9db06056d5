#include "sskj/run/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <system_error>

#include "sskj/core/sha256.hpp"
#include "sskj/run/event_json.hpp"

namespace sskj::run {
namespace {

constexpr std::size_t k_longest_name = 200;  // file systems allow 255; suffixes need some
constexpr mode_t k_directory_mode = 0700;
constexpr mode_t k_file_mode = 0600;

class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

std::string reason() { return std::generic_category().message(errno); }

File open_file(const std::string& path, int flags) { return File(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, k_file_mode)); }

bool write_all(const File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_file(const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  const File file = open_file(part, O_WRONLY | O_CREAT | O_TRUNC);
  return file && write_all(file, bytes) && std::rename(part.c_str(), path.c_str()) == 0;
}

bool make_directories(const std::string& path) {
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (::mkdir(path.substr(0, end).c_str(), k_directory_mode) != 0 && errno != EEXIST) return false;
    if (end == std::string::npos) return true;
  }
}

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
      options.on_error({Errc::internal, fmt::format("the journal in {} is incomplete from here on: {}: {}", directory, what, reason()), "free space, or use --state-dir"});
    }
  }
  [[nodiscard]] std::string path_of(const plan::Step& step, Stream stream) const {
    return fmt::format("{}/nodes/{}/{}.{}", directory, journal_file_name(step.node), journal_file_name(step.id), stream == Stream::out ? "out" : "err");
  }
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

Result<std::unique_ptr<Journal>> Journal::open(const plan::Plan& plan, JournalOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->directory = fmt::format("{}/runs/{}", options.state_directory, journal_file_name(options.run));
  impl->options = std::move(options);
  const auto cannot = [&impl](std::string_view what) {
    return fail(Errc::usage, fmt::format("the run directory {} cannot be {}: {}", impl->directory, what, reason()), "name a writable place with --state-dir");
  };
  if (!make_directories(impl->options.state_directory + "/runs") || ::mkdir(impl->directory.c_str(), k_directory_mode) != 0) return cannot("made");
  impl->lock = File(::open(impl->directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!impl->lock || ::flock(impl->lock.fd(), LOCK_EX | LOCK_NB) != 0) return cannot("locked");
  if (!write_file(impl->directory + "/plan.json", plan::to_json(plan))) return cannot("written to");
  impl->events = open_file(impl->directory + "/events.ndjson", O_WRONLY | O_CREAT | O_APPEND);
  if (!impl->events) return cannot("written to");
  return std::unique_ptr<Journal>(new Journal(std::move(impl)));
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;
const std::string& Journal::directory() const { return impl_->directory; }

void Journal::on(const Event& event) {
  if (impl_->broken) return;
  EventJsonOptions json;
  if (impl_->options.now) json.at = impl_->options.now();
  if (const auto* output = std::get_if<StepOutput>(&event)) {  // raw bytes go to the node's file: twice would be too much
    if (output->step != nullptr) impl_->append(*output->step, output->stream, output->bytes);
    return;
  }
  if (const auto* finished = std::get_if<StepFinished>(&event)) impl_->keep(*finished);
  // One write a line: a reader after kill -9 meets whole lines, but for the last one at most.
  if (!write_all(impl_->events, event_to_json(event, json) + "\n")) return impl_->failed("events.ndjson");
  if (const auto* over = std::get_if<RunFinished>(&event)) {
    if (!write_file(impl_->directory + "/summary.json", summary_json(*over, json))) impl_->failed("summary.json");
  }
}

}  // namespace sskj::run
