// Files of a run directory: what the journal, its readers and the pruning share.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sskj::run {

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
  ~File();
  [[nodiscard]] int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

inline constexpr mode_t k_directory_mode = 0700;
inline constexpr mode_t k_file_mode = 0600;

/// The system's words for errno.
std::string reason();

/// Never follows a link, never leaks into a child. Empty, with errno, where it cannot be opened.
File open_file(const std::string& path, int flags);
File open_directory(const std::string& path);

bool write_all(const File& file, std::string_view bytes);
/// Whole or not at all: to a temporary name, then renamed.
bool write_file(const std::string& path, std::string_view bytes);
bool make_directories(const std::string& path);
/// Renames a directory, but never over another one (EEXIST).
bool rename_directory(const std::string& from, const std::string& to);

/// Up to `max_bytes` from `offset` on. Nothing, with errno, where it cannot be read; an empty text at the end.
std::optional<std::string> read_some(const File& file, std::size_t offset, std::size_t max_bytes);
/// A whole file of at most `max_bytes` (else nothing, with errno EFBIG).
std::optional<std::string> read_whole(const std::string& path, std::size_t max_bytes);

/// Takes the lock of a directory; false when somebody holds it.
bool lock_exclusively(const File& directory);

}  // namespace sskj::run
