#include "script.hpp"

#include "sskj/core/shell.hpp"

namespace sskj::recipes {

Script::Script(std::string_view title) : head_("# sskj: " + std::string(title) + "\n") {}

Script& Script::set(std::string_view name, std::string_view value) {
  head_.append(name).append("=").append(value.empty() ? "" : shell::quote(value)).append("\n");
  return *this;
}

Script& Script::set(std::string_view name, long long value) { return set(name, std::to_string(value)); }

Script& Script::flag(std::string_view name, bool value) { return set(name, value ? "1" : "0"); }

Script& Script::list(std::string_view name, std::span<const std::string> items) {
  std::string joined;
  for (const auto& item : items) {
    if (!joined.empty()) joined += '\n';
    joined += item;
  }
  return set(name, joined);
}

Script& Script::function(std::string_view name, std::string_view command) {
  head_.append(name).append("() {\n").append(command).append("\n}\n");
  return *this;
}

std::string Script::with(std::initializer_list<std::string_view> texts) const {
  std::string script = head_;
  for (const auto text : texts) script += text;
  return script;
}

}  // namespace sskj::recipes
