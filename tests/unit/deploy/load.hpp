// Profiles for the deploy tests: files of the source tree, or texts.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sskj/deploy/build.hpp"

namespace sskj::deploy::testing {

inline Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail(Errc::profile, "cannot read " + path);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Bytes of artifacts: "file:" beside the profile, "embedded:" from the source tree.
inline Result<std::string> artifact_bytes(const profile::ArtifactSetting& artifact) {
  if (artifact.source.rfind("embedded:", 0) == 0) {
    return read_file(std::string(SSKJ_SOURCE_DIR) + "/" + artifact.source.substr(9));
  }
  return read_file(artifact.base_dir + "/" + artifact.source.substr(5));
}

inline profile::Parsed parse_text(const std::string& text, const std::string& file = "test.env") {
  profile::ParseOptions options;
  options.file = file;
  options.read = read_file;
  return profile::parse(text, options);
}

inline Built build_text(const std::string& text, const std::string& file = "test.env") {
  profile::Parsed parsed = parse_text(text, file);
  Built built = build(parsed.profile, artifact_bytes);
  built.diagnostics.insert(built.diagnostics.begin(), parsed.diagnostics.begin(), parsed.diagnostics.end());
  return built;
}

inline Built build_file(const std::string& path) { return build_text(read_file(path).value_or(""), path); }

inline std::string report(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    out += to_string(d.at) + ": " + std::string(to_string(d.severity)) + ": " + d.id + ": " + d.message + " (" + d.hint + ")\n";
  }
  return out;
}

/// The least that builds without an error.
inline std::string minimal(const std::string& more = "") {
  return "NODES=10.0.0.[1-2]\nIMAGE=i:1\nMODEL_PATH=/m\nSERVED_MODEL=m\n" + more;
}

}  // namespace sskj::deploy::testing
