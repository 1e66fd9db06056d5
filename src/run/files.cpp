#include "files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace sskj::run {

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

std::string reason() { return std::generic_category().message(errno); }

File open_file(const std::string& path, int flags) { return File(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, k_file_mode)); }

File open_directory(const std::string& path) { return open_file(path, O_RDONLY | O_DIRECTORY); }

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

bool rename_directory(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // A file system (NFS, FUSE) without that flag: names of runs are random, so a look beforehand is as good.
  struct stat info {};
  if (::lstat(to.c_str(), &info) == 0) return errno = EEXIST, false;
  return std::rename(from.c_str(), to.c_str()) == 0;
}

std::optional<std::string> read_some(const File& file, std::size_t offset, std::size_t max_bytes) {
  std::string bytes(max_bytes, '\0');
  std::size_t size = 0;
  while (size < max_bytes) {
    const auto got = ::pread(file.fd(), bytes.data() + size, max_bytes - size, static_cast<off_t>(offset + size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

std::optional<std::string> read_whole(const std::string& path, std::size_t max_bytes) {
  const File file = open_file(path, O_RDONLY);
  struct stat info {};
  if (!file || ::fstat(file.fd(), &info) != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(std::max<off_t>(info.st_size, 0));
  if (!S_ISREG(info.st_mode) || size > max_bytes) return errno = EFBIG, std::nullopt;
  return read_some(file, 0, size);
}

bool lock_exclusively(const File& directory) { return ::flock(directory.fd(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace sskj::run
