#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

std::string escape_controls(std::string json) {
  const auto obeyed = [&](std::size_t i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    return byte == 0x7F || (byte == 0xC2 && i + 1 < json.size() && static_cast<unsigned char>(json[i + 1]) < 0xA0);
  };
  std::string result;
  std::size_t from = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!obeyed(i)) {
      continue;
    }
    const bool two = static_cast<unsigned char>(json[i]) == 0xC2;
    result.append(json, from, i - from);
    result += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[two ? i + 1 : i]));
    i += two ? 1 : 0;
    from = i + 1;
  }
  return from == 0 ? json : result.append(json, from);
}

std::string dump(const nlohmann::json& document, int indent) {
  return escape_controls(document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string dump(const nlohmann::ordered_json& document, int indent) {
  return escape_controls(document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

nlohmann::ordered_json diagnostics_array(const Diagnostics& diagnostics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnostic& entry : diagnostics) {
    list.push_back({{"severity", to_string(entry.severity)},
                    {"id", entry.id},
                    {"message", text::to_valid_utf8(entry.message)},
                    {"hint", text::to_valid_utf8(entry.hint)},
                    {"file", text::to_valid_utf8(entry.at.file)},
                    {"line", entry.at.line},
                    {"column", entry.at.column},
                    {"reference", text::to_valid_utf8(entry.reference)}});
  }
  return list;
}

}  // namespace sskj::view
