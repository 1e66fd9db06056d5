#include "source_text.hpp"

#include <fmt/format.h>

namespace sskj::profile {

namespace {

constexpr std::size_t k_max_byte_errors = 20;

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool continuation(std::string_view bytes, std::size_t at) { return at < bytes.size() && (byte_at(bytes, at) & 0xC0U) == 0x80U; }

std::string byte_problem(unsigned byte) {
  if (byte == 0) {
    return "stray NUL byte";
  }
  if (byte == '\r') {
    return "stray carriage return (lines end with LF or CRLF)";
  }
  if (byte < 0x20 || byte == 0x7F) {
    return fmt::format("stray control byte 0x{:02x}", byte);
  }
  return fmt::format("byte 0x{:02x} is not valid UTF-8", byte);
}

}  // namespace

std::size_t utf8_length(std::string_view bytes, std::size_t at) {
  const unsigned lead = byte_at(bytes, at);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return continuation(bytes, at + 1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continuation(bytes, at + 1) || !continuation(bytes, at + 2)) {
      return 0;
    }
    const unsigned second = byte_at(bytes, at + 1);
    const bool overlong = lead == 0xE0 && second < 0xA0, surrogate = lead == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continuation(bytes, at + 1) || !continuation(bytes, at + 2) || !continuation(bytes, at + 3)) {
      return 0;
    }
    const unsigned second = byte_at(bytes, at + 1);
    return (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F) ? 0 : 4;
  }
  return 0;
}

SourceText clean_source(std::string_view bytes, const std::string& file) {
  SourceText out;
  if (bytes.size() > k_max_text) {
    out.diagnostics.push_back({Severity::error, "too-large", fmt::format("the profile has {} bytes", bytes.size()),
                               fmt::format("at most {} bytes are read", k_max_text), {file, 0, 0}, ""});
    return out;
  }
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") {
    bytes.remove_prefix(3);
  }
  out.text.reserve(bytes.size());
  SourceRef at{file, 1, 1};
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned byte = byte_at(bytes, i);
    if (byte == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n') {
      ++i;
      continue;
    }
    const std::size_t length = utf8_length(bytes, i);
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
    if ((length == 0 || control) && out.diagnostics.size() < k_max_byte_errors) {
      out.diagnostics.push_back({Severity::error, "stray-byte", byte_problem(byte), "", at, ""});
    }
    const std::size_t step = length == 0 ? 1 : length;
    out.text.append(bytes, i, step);
    i += step;
    at.column += step;
    if (byte == '\n') {
      ++at.line;
      at.column = 1;
    }
  }
  return out;
}

}  // namespace sskj::profile
