// Golden files: compare, or rewrite with SSKJ_ACCEPT=1 (the test then reports itself as skipped).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace sskj::view::testing {

inline std::string golden_path(const std::string& name) { return std::string(SSKJ_SOURCE_DIR) + "/tests/data/events/" + name + ".golden"; }

inline bool accepting() {
  const char* accept = std::getenv("SSKJ_ACCEPT");
  return accept != nullptr && std::string(accept) == "1";
}

/// True when the file was rewritten; then the caller skips.
inline bool golden(const std::string& name, const std::string& text) {
  if (accepting()) {
    std::ofstream(golden_path(name), std::ios::binary) << text;
    return true;
  }
  std::ifstream file(golden_path(name), std::ios::binary);
  EXPECT_TRUE(file) << golden_path(name) << " is missing: run once with SSKJ_ACCEPT=1 and read what it wrote";
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_EQ(stored.str(), text) << golden_path(name) << " differs: if the change is wanted, run with SSKJ_ACCEPT=1";
  return false;
}

}  // namespace sskj::view::testing
