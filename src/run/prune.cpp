#include "sskj/run/prune.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <vector>

#include "files.hpp"
#include "sskj/run/record.hpp"

namespace sskj::run {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_looked_at = 20'000;  // files measured in one call
constexpr std::size_t k_max_removed = 20'000;    // files removed in one call
constexpr std::int64_t k_unborn_for = 3600;      // seconds after which a directory without its final name was left by a process that died
constexpr std::string_view k_unborn = ".new-";   // journal.cpp makes a run under this name
constexpr std::string_view k_going = ".old-";    // and it goes under this one: a list never shows half a run
constexpr std::string_view k_size_file = "/size";

/// Bytes below a directory; nothing when it holds more than `budget` files, which is used up.
std::optional<std::uint64_t> measure(const std::string& directory, std::size_t& budget) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (budget == 0) return std::nullopt;
    --budget;
    std::error_code unreadable;
    const bool file = it->symlink_status(unreadable).type() == fs::file_type::regular;
    const auto size = file ? it->file_size(unreadable) : 0;
    if (!unreadable) bytes += size;
  }
  return bytes;
}

// A run that ended does not grow: it is measured once, and says its size from then on.
std::uint64_t size_of(const std::string& directory, std::size_t& budget) {
  const std::string kept = directory + std::string(k_size_file);
  std::uint64_t bytes = 0;
  if (const auto text = read_whole(kept, 32)) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), bytes);
    if (error == std::errc{}) return bytes;
  }
  const auto measured = measure(directory, budget);
  if (!measured) return 0;  // not known yet
  if (!is_held(directory)) write_file(kept, std::to_string(*measured));
  return *measured;
}

struct Remover {
  const std::string& runs;
  Pruned& outcome;
  std::size_t files = 0;

  [[nodiscard]] bool tired() const { return files >= k_max_removed; }
  void fault(const std::string& path, const std::string& why) {
    if (!outcome.fault) outcome.fault = Error{Errc::internal, fmt::format("the old run directory {} cannot be removed: {}", path, why), "remove it by hand"};
  }
  void remove(const std::string& name) {
    const std::string path = runs + "/" + name;
    const File directory = open_directory(path);
    if (!directory) {
      if (errno != ENOENT) fault(path, reason());
      return;
    }
    if (!lock_exclusively(directory)) return;  // it lives, or another sskj removes it already
    std::string going = path;
    if (!name.starts_with(k_going)) {
      going = fmt::format("{}/{}{}", runs, k_going, name);
      if (!rename_directory(path, going)) {
        if (errno != ENOENT) fault(path, reason());
        return;
      }
    }
    std::error_code error;
    const auto count = fs::remove_all(going, error);
    if (error) return fault(going, error.message());
    files += count;
    ++outcome.removed;
  }
};

std::vector<std::string> leftovers(const std::string& runs, std::int64_t now) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(runs, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const auto began = name.size() > k_unborn.size() ? start_of_run(std::string_view(name).substr(k_unborn.size())) : std::nullopt;
    const bool going = began && name.starts_with(k_going);
    const bool unborn = began && name.starts_with(k_unborn) && now - *began > k_unborn_for;
    if (going || unborn) names.push_back(name);
  }
  return names;
}

}  // namespace

Pruned prune_runs(const std::string& runs_directory, std::int64_t now, const PruneLimits& limits, const std::string& keep) {
  Pruned outcome;
  Remover remover{runs_directory, outcome};
  for (const std::string& name : leftovers(runs_directory, now)) {
    if (!remover.tired()) remover.remove(name);
  }
  const std::vector<std::string> ids = list_runs(runs_directory);
  std::uint64_t bytes = 0;
  std::size_t budget = k_max_looked_at;
  std::vector<std::string> too_many;  // newest first
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool old = i >= limits.max_runs || now - start_of_run(ids[i]).value_or(now) > limits.max_age || bytes > limits.max_bytes;
    if (!old) bytes += size_of(runs_directory + "/" + ids[i], budget);
    if (ids[i] != keep && (old || bytes > limits.max_bytes)) too_many.push_back(ids[i]);
  }
  for (auto id = too_many.rbegin(); id != too_many.rend() && !remover.tired(); ++id) remover.remove(*id);
  return outcome;
}

}  // namespace sskj::run
