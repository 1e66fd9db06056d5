// Real shells and a directory of one's own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "sskj/core/shell.hpp"

namespace sskj::testing {

struct Ran {
  int status = -1;
  std::string out;
};

/// Runs `command` through /bin/sh; stdout and stderr together.
inline Ran run_command(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> chunk{};
  for (std::size_t got = 0; (got = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) ran.out.append(chunk.data(), got);
  const int raw = pclose(pipe);
  ran.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  return ran;
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// A script through the shell named, with variables in front ("HOME=/x SSKJ_RUN=r").
inline Ran run_script(const std::string& script, const std::string& environment = "", const std::string& shell = "sh") {
  return run_command("env " + environment + " " + shell + " -c " + sskj::shell::quote(script) + " </dev/null");
}

class TempDir {
 public:
  TempDir() {
    std::string name = "/tmp/sskj-test-XXXXXX";
    const char* made = mkdtemp(name.data());
    path_ = made != nullptr ? made : "";
  }
  ~TempDir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sskj::testing
