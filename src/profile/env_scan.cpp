#include "env_scan.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "source_text.hpp"

namespace sskj::profile {

namespace {

bool is_key_start(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_key_char(char c) { return is_key_start(c) || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

// What `sh` would treat specially in an unquoted word of an assignment: refused, so that the file means the same to both.
constexpr std::string_view k_must_quote = ";&|<>()*?~!`\\";

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file, const std::map<std::string, std::string, std::less<>>& given)
      : text_(text), file_(file), given_(given) {}

  EnvScan run() {
    while (!end()) {
      skip_blanks();
      if (end()) {
        break;
      }
      if (peek() == '\n') {
        take();
      } else if (peek() == '#' || !assignment()) {
        skip_line();
      }
    }
    return std::move(out_);
  }

 private:
  bool end() const { return at_ >= text_.size(); }
  char peek() const { return text_[at_]; }
  SourceRef here() const { return {file_, line_, column_}; }

  char take() {
    const char c = text_[at_++];
    ++column_;
    if (c == '\n') {
      ++line_;
      column_ = 1;
    }
    return c;
  }

  void skip_blanks() {
    while (!end() && is_blank(peek())) {
      take();
    }
  }

  void skip_line() {
    while (!end() && take() != '\n') {
    }
  }

  bool error(const SourceRef& at, std::string id, std::string message, std::string hint = {}) {
    out_.diagnostics.push_back({Severity::error, std::move(id), std::move(message), std::move(hint), at, ""});
    return false;
  }

  std::string read_key() {
    std::string key;
    if (!end() && is_key_start(peek())) {
      while (!end() && is_key_char(peek())) {
        key += take();
      }
    }
    return key;
  }

  bool assignment() {
    SourceRef key_at = here();
    std::string key = read_key();
    if (key == "export" && !end() && is_blank(peek())) {
      skip_blanks();
      key_at = here();
      key = read_key();
    }
    if (key.empty()) {
      return error(here(), "syntax", "expected KEY=value", "a comment starts with #");
    }
    if (end() || peek() != '=') {
      if (!end() && is_blank(peek())) {
        return error(here(), "syntax", fmt::format("no blank may stand between {} and '='", key), "write " + key + "=value");
      }
      return error(here(), "syntax", fmt::format("expected '=' after {}", key), "write " + key + "=value");
    }
    take();
    if (!end() && is_blank(peek())) {
      return error(here(), "syntax", fmt::format("no blank may follow '=' in {}=", key), "quote the value, or write '' for an empty one");
    }
    Value value = scalar({}, here());
    if (!read_value(value) || !line_ends(key)) {
      failed_.insert(std::move(key));
      return false;
    }
    return store(std::move(key), key_at, std::move(value));
  }

  bool line_ends(const std::string& key) {
    const bool blank = !end() && is_blank(peek());
    skip_blanks();
    if (end() || peek() == '\n') {
      return true;
    }
    if (blank && peek() == '#') {
      skip_line();
      return true;
    }
    return error(here(), "syntax", fmt::format("text after the value of {}", key), "quote a value that holds blanks");
  }

  bool store(std::string key, const SourceRef& key_at, Value value) {
    for (const Assignment& before : out_.assignments) {
      if (before.key == key) {
        error(key_at, "duplicate-key", fmt::format("{} is set twice: first in line {}, again in line {}", key, before.at.line, key_at.line),
              "keep one of them");
        return true;  // the line itself is well-formed
      }
    }
    out_.assignments.push_back({std::move(key), key_at, std::move(value)});
    return true;
  }

  void anchor(Value& value) { value.anchors.push_back({value.text.size(), line_, column_}); }

  bool read_value(Value& value) {
    anchor(value);
    while (!end() && !is_blank(peek()) && peek() != '\n') {
      const char c = peek();
      bool ok = true;
      if (c == '\'') {
        ok = single_quoted(value);
      } else if (c == '"') {
        ok = double_quoted(value);
      } else if (c == '$') {
        ok = expansion(value);
      } else if (k_must_quote.find(c) != std::string_view::npos) {
        return error(here(), "syntax", fmt::format("'{}' must be inside quotes", c), "single quotes keep every byte as it is");
      } else {
        value.text += take();
      }
      if (!ok) {
        return false;
      }
    }
    return true;
  }

  bool unterminated(const SourceRef& opened, const char* kind) {
    error(opened, "unterminated-quote", fmt::format("the {} quote opened here is never closed", kind));
    at_ = text_.size();  // what follows cannot be told apart from the value
    return false;
  }

  bool single_quoted(Value& value) {
    const SourceRef opened = here();
    take();
    anchor(value);
    while (!end()) {
      const char c = take();
      if (c == '\'') {
        anchor(value);
        return true;
      }
      value.text += c;
      if (c == '\n') {
        anchor(value);
      }
    }
    return unterminated(opened, "single");
  }

  bool double_quoted(Value& value) {
    const SourceRef opened = here();
    take();
    anchor(value);
    bool ok = true;
    while (!end()) {
      const char c = peek();
      if (c == '"') {
        take();
        anchor(value);
        return ok;
      }
      if (c == '$') {
        ok = expansion(value) && ok;
      } else if (c == '\\') {
        ok = escape(value) && ok;
      } else if (c == '`') {
        ok = error(here(), "syntax", "command substitution is not done", "write \\` for the character, or use single quotes");
        take();
      } else {
        value.text += take();
        if (c == '\n') {
          anchor(value);
        }
      }
    }
    return unterminated(opened, "double");
  }

  bool escape(Value& value) {
    const SourceRef at = here();
    take();
    if (end()) {
      return true;  // reported as unterminated
    }
    const char c = take();
    if (c == '\n') {
      anchor(value);
      return true;
    }
    if (std::string_view("\\\"$`").find(c) == std::string_view::npos) {
      return error(at, "syntax", "unknown escape in double quotes", "only \\\\ \\\" \\$ \\` and backslash-newline exist; write \\\\ for a backslash");
    }
    value.text += c;
    anchor(value);
    return true;
  }

  bool expansion(Value& value) {
    const SourceRef at = here();
    take();
    if (end() || peek() != '{') {
      const bool command = !end() && peek() == '(';
      return error(at, "syntax", command ? "command substitution is not done" : "a lone '$'",
                   "write \\$ in double quotes or use single quotes for the character, ${NAME} for a value of this file");
    }
    take();
    const std::string name = read_key();
    if (name.empty() || end() || peek() != '}') {
      return error(at, "syntax", "only ${NAME} is expanded", "no operators, no defaults");
    }
    take();
    const std::string* found = lookup(name);
    if (found == nullptr && failed_.count(name) != 0) {
      return false;  // its own line has been reported
    }
    if (found == nullptr) {
      return error(at, "unknown-variable", fmt::format("${{{}}} is not set above in this file nor by --set", name),
                   "the environment is never read; set it before it is used");
    }
    expanded_ += found->size();
    if (expanded_ > k_max_text) {
      return error(at, "too-large", "the values of this file expand to more than 1 MiB");
    }
    value.text += *found;
    anchor(value);
    return true;
  }

  const std::string* lookup(std::string_view name) const {
    if (const auto it = given_.find(name); it != given_.end()) {
      return &it->second;
    }
    for (const Assignment& assignment : out_.assignments) {
      if (assignment.key == name) {
        return &assignment.value.text;
      }
    }
    return nullptr;
  }

  std::string_view text_;
  const std::string& file_;
  const std::map<std::string, std::string, std::less<>>& given_;
  std::size_t at_ = 0, line_ = 1, column_ = 1, expanded_ = 0;
  std::set<std::string, std::less<>> failed_;
  EnvScan out_;
};

}  // namespace

EnvScan scan_env(std::string_view text, const std::string& file, const std::map<std::string, std::string, std::less<>>& given) {
  return Scanner(text, file, given).run();
}

}  // namespace sskj::profile
