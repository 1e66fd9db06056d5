// What both fuzz targets hold the parsers to.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "sskj/profile/profile.hpp"

namespace sskj::fuzz {

/// Parse arbitrary bytes: no crash, no endless work, every error has a message, and what parses without an error is bounded.
inline void parse_bytes(std::string_view bytes, const char* file) {
  profile::ParseOptions options;
  options.file = file;
  options.variants = {"v"};
  options.overrides = {{"PORT", "1", {"--set", 0, 0}, profile::Origin::flag}, {"NODE_0_NIC", "x", {"--set", 0, 0}, profile::Origin::environment}};
  // Every reference leads back to the text itself: cycles and depth are found, not followed.
  options.read = [text = std::string(bytes)](const std::string& /*path*/) -> Result<std::string> { return text; };
  const profile::Parsed parsed = profile::parse(bytes, options);
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    if (diagnostic.message.empty() || diagnostic.id.empty() || diagnostic.message.find('\0') != std::string::npos) {
      std::abort();
    }
  }
  std::size_t nodes = 0;
  for (const profile::GroupSetting& group : parsed.profile.groups) {
    nodes += group.nodes.size();
  }
  if (!has_errors(parsed.diagnostics) && (parsed.profile.name.empty() || nodes > 4096 * parsed.profile.groups.size())) {
    std::abort();
  }
}

}  // namespace sskj::fuzz
