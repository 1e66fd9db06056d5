#include "import_shell.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "leaf_text.hpp"
#include "source_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::profile {

namespace {

constexpr int k_max_nesting = 8;
constexpr std::size_t k_max_variables = 2000;

bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool name_char(char c) { return name_start(c) || (c >= '0' && c <= '9'); }
bool one_of(std::string_view text, std::initializer_list<std::string_view> set) { return std::find(set.begin(), set.end(), text) != set.end(); }

struct Word {
  std::string text, raw, problem;  ///< problem: why the text cannot be known
  std::vector<std::string> unknown;  ///< variables that this file does not set; they stand in the text as $NAME
  std::vector<std::string> items;  ///< an array literal's, or what "${A[@]}" gives
  bool array = false, list = false;
};

class ShellReader {
 public:
  explicit ShellReader(std::string_view text) : text_(text) {}

  ShellScript run() {
    while (skip_to_command()) {
      const std::size_t line = line_, start = at_;
      std::vector<Word> words;
      while (!command_ends()) {
        words.push_back(read_word());
        skip_blanks();
      }
      command(words, line, text_.substr(start, at_ - start));
      if (at_ < text_.size()) {
        take();
      }
    }
    return std::move(out_);
  }

 private:
  bool end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  char take() {
    line_ += text_[at_] == '\n' ? 1U : 0U;
    return text_[at_++];
  }

  void skip_blanks() {
    while (!end()) {
      if (peek() == ' ' || peek() == '\t') {
        take();
      } else if (peek() == '\\' && peek(1) == '\n') {
        take();
        take();
      } else if (peek() == '#' && (at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t' || text_[at_ - 1] == '\n' || text_[at_ - 1] == ';')) {
        while (!end() && peek() != '\n') {
          take();
        }
      } else {
        return;
      }
    }
  }

  bool skip_to_command() {
    for (;;) {
      skip_blanks();
      if (end()) {
        return false;
      }
      if (peek() != '\n' && peek() != ';') {
        return true;
      }
      take();
    }
  }

  bool command_ends() const { return end() || peek() == '\n' || peek() == ';'; }

  Word read_word() {
    Word word;
    const std::size_t start = at_;
    while (!command_ends() && peek() != ' ' && peek() != '\t') {
      const char c = peek();
      const bool literal = c == '(' && word.text.ends_with('=') && word.problem.empty();
      if (literal) {
        array_literal(word);
        break;
      }
      piece(word, false);
    }
    word.raw = text_.substr(start, at_ - start);
    return word;
  }

  // One quoted section, expansion, escape or plain byte.
  void piece(Word& word, bool quoted) {
    const char c = take();
    if (c == '\'' && !quoted) {
      const std::size_t close = std::min(text_.find('\'', at_), text_.size());
      while (at_ < close) {
        word.text += take();
      }
      closing(word, "a single quote is not closed");
    } else if (c == '"' && !quoted) {
      while (!end() && peek() != '"') {
        piece(word, true);
      }
      closing(word, "a double quote is not closed");
    } else if (c == '\\') {
      escape(word, quoted);
    } else if (c == '$') {
      expand(word);
    } else if (c == '`') {
      substitution(word, '`');
    } else {
      word.text += c;
    }
  }

  void closing(Word& word, const char* problem) {
    if (end()) {
      word.problem = problem;
    } else {
      take();
    }
  }

  void escape(Word& word, bool quoted) {
    if (end()) {
      return;
    }
    const char c = take();
    if (c == '\n') {
      return;
    }
    if (quoted && std::string_view("\\\"$`").find(c) == std::string_view::npos) {
      word.text += '\\';
    }
    word.text += c;
  }

  void array_literal(Word& word) {
    word.array = true;
    take();
    while (!end() && peek() != ')') {
      skip_blanks();
      if (peek() == '\n') {
        take();
      } else if (!end() && peek() != ')') {
        Word item;
        while (!end() && peek() != ')' && peek() != ' ' && peek() != '\t' && peek() != '\n') {
          piece(item, false);
        }
        word.problem = item.problem.empty() ? word.problem : item.problem;
        word.unknown.insert(word.unknown.end(), item.unknown.begin(), item.unknown.end());
        if (item.list) {
          word.items.insert(word.items.end(), item.items.begin(), item.items.end());
        } else {
          word.items.push_back(item.text);
        }
      }
    }
    closing(word, "an array is not closed");
  }

  // Its text is passed over: what it would print is not known.
  void substitution(Word& word, char close) {
    word.problem = "command substitution: nothing is executed";
    while (!end() && peek() != close && peek() != '\n') {
      take();
    }
    if (!end() && peek() == close) {
      take();
    }
  }

  void expand(Word& word) {
    if (peek() == '(') {
      substitution(word, ')');
      return;
    }
    if (peek() == '{') {
      take();
      braces(word);
      return;
    }
    std::string name;
    while (!end() && (name.empty() ? name_start(peek()) : name_char(peek()))) {
      name += take();
    }
    if (name.empty()) {
      word.problem = "an expansion that only a running shell knows";
    } else {
      insert(word, name, std::nullopt);
    }
  }

  void braces(Word& word) {
    std::string name;
    while (!end() && name_char(peek())) {
      name += take();
    }
    const bool all = text_.substr(at_, 4) == "[@]}" || text_.substr(at_, 4) == "[*]}";
    if (all) {
      at_ += 4;
      insert_array(word, name);
    } else if (peek() == '}') {
      take();
      insert(word, name, std::nullopt);
    } else if (peek() == '-' || (peek() == ':' && peek(1) == '-')) {
      at_ += peek() == ':' ? 2U : 1U;
      Word other;
      if (++nesting_ <= k_max_nesting) {
        while (!end() && peek() != '}') {
          piece(other, true);
        }
      }
      --nesting_;
      closing(word, "an expansion is not closed");
      insert(word, name, other);
    } else {
      word.problem = "an expansion that is not imported: write the value out";
      while (!end() && peek() != '}' && peek() != '\n') {
        take();
      }
    }
  }

  ShellVariable* variable(std::string_view name) {
    const auto it = std::find_if(out_.variables.begin(), out_.variables.end(), [&](const ShellVariable& v) { return v.name == name; });
    return it == out_.variables.end() ? nullptr : &*it;
  }

  void append(Word& word, const std::string& text) {
    expanded_ += text.size();
    if (expanded_ > k_max_text) {
      word.problem = "the values expand to more than 1 MiB";
    } else {
      word.text += text;
    }
  }

  void insert(Word& word, const std::string& name, const std::optional<Word>& otherwise) {
    ShellVariable* found = variable(name);
    if (found != nullptr && !found->words.empty() && !(otherwise && found->words[0].empty())) {
      found->used = true;
      word.unknown.insert(word.unknown.end(), found->unknown.begin(), found->unknown.end());
      append(word, found->words[0]);
    } else if (otherwise) {
      append(word, otherwise->text);
      word.problem = otherwise->problem.empty() ? word.problem : otherwise->problem;
      word.unknown.insert(word.unknown.end(), otherwise->unknown.begin(), otherwise->unknown.end());
    } else if (found == nullptr) {
      word.text += "$" + name;
      word.unknown.push_back("$" + name);
    }
  }

  void insert_array(Word& word, const std::string& name) {
    ShellVariable* found = variable(name);
    if (found == nullptr) {
      word.problem = "${" + name + "[@]} is not set in this file";
      return;
    }
    found->used = true;
    word.list = true;
    word.unknown.insert(word.unknown.end(), found->unknown.begin(), found->unknown.end());
    for (const std::string& item : found->words) {
      append(word, (word.text.empty() ? "" : " ") + item);
      word.items.push_back(item);
    }
  }

  void refuse(std::size_t line, std::string_view raw, std::string reason) { out_.refused.push_back({line, shown_source(raw), std::move(reason)}); }

  void command(const std::vector<Word>& words, std::size_t line, std::string_view raw) {
    if (words.empty()) {
      return;
    }
    const std::string& first = words[0].raw;
    const bool closes = one_of(first, {"fi", "done", "esac", "}"});
    const bool opens = one_of(first, {"if", "for", "while", "until", "case", "function", "{"}) || first.ends_with("()") || words.back().raw == "{";
    depth_ -= closes && depth_ > 0 ? 1 : 0;
    if (opens || closes || depth_ > 0) {
      depth_ += opens ? 1 : 0;
      if (!closes) {
        refuse(line, raw, "inside a condition, loop or function: nothing is executed");
      }
      return;
    }
    std::size_t from = 0;
    if (one_of(first, {"export", "declare", "readonly", "local", "typeset"})) {
      for (from = 1; from < words.size() && words[from].raw.starts_with('-');) {
        ++from;
      }
    }
    const bool all = from < words.size() && std::all_of(words.begin() + static_cast<std::ptrdiff_t>(from), words.end(), [](const Word& w) { return is_assignment(w); });
    if (!all) {
      const bool exports_only = from > 0 && std::all_of(words.begin() + static_cast<std::ptrdiff_t>(from), words.end(), [](const Word& w) { return is_variable(w.raw); });
      if (!exports_only && first != "set") {
        refuse(line, raw, "a command: nothing is executed");
      }
      return;
    }
    for (std::size_t i = from; i < words.size(); ++i) {
      assign(words[i], line);
    }
  }

  static bool is_assignment(const Word& word) {
    const std::size_t equals = word.raw.find('=');
    if (equals == std::string::npos) {
      return false;
    }
    const bool plus = equals > 0 && word.raw[equals - 1] == '+';
    return is_variable(std::string_view(word.raw).substr(0, equals - (plus ? 1 : 0)));
  }

  void assign(const Word& word, std::size_t line) {
    if (!word.problem.empty()) {
      refuse(line, word.raw, word.problem);
      return;
    }
    const std::size_t equals = word.raw.find('=');
    const bool plus = word.raw[equals - 1] == '+';
    const std::string name = word.raw.substr(0, equals - (plus ? 1 : 0));
    std::vector<std::string> value = word.items;
    if (!word.array) {
      value = {word.text.substr(equals + 1)};
    }
    ShellVariable* known = variable(name);
    if (known == nullptr && out_.variables.size() >= k_max_variables) {
      refuse(line, word.raw, "too many variables");
    } else if (known == nullptr) {
      out_.variables.push_back({name, std::move(value), word.unknown, word.array, false, line, word.raw});
    } else if (plus && word.array) {
      known->words.insert(known->words.end(), value.begin(), value.end());
      known->unknown.insert(known->unknown.end(), word.unknown.begin(), word.unknown.end());
    } else if (plus && !known->words.empty()) {
      known->words[0] += value[0];
      known->unknown.insert(known->unknown.end(), word.unknown.begin(), word.unknown.end());
    } else {
      *known = {name, std::move(value), word.unknown, word.array, known->used, line, word.raw};
    }
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, expanded_ = 0;
  int depth_ = 0, nesting_ = 0;
  ShellScript out_;
};

}  // namespace

std::string shown_source(std::string_view raw) {
  const std::size_t equals = raw.find('=');
  std::string name(raw.substr(0, equals));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  constexpr std::array<std::string_view, 4> k_secret = {"KEY", "TOKEN", "SECRET", "PASSWORD"};
  const bool secret = equals != std::string_view::npos && std::any_of(k_secret.begin(), k_secret.end(), [&](std::string_view s) { return name.find(s) != std::string::npos; });
  std::string line(secret ? std::string(raw.substr(0, equals)) + "=(not shown)" : std::string(raw.substr(0, raw.find('\n'))));
  constexpr std::size_t k_width = 80;
  return line.size() <= k_width ? text::printable(line) : text::printable(text::to_valid_utf8(line, k_width)) + "...";
}

ShellScript read_shell(std::string_view text) { return ShellReader(text).run(); }

}  // namespace sskj::profile
