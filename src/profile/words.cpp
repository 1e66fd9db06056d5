#include "words.hpp"

#include <utility>

namespace sskj::profile {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  tl::expected<std::vector<ShellWord>, WordsError> run() {
    std::vector<ShellWord> words;
    while (skip_blanks()) {
      ShellWord word;
      word.offset = at_;
      if (const char* problem = read_word(word.text)) {
        return tl::unexpected<WordsError>(WordsError{problem, opened_});
      }
      words.push_back(std::move(word));
    }
    return words;
  }

 private:
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2;
      } else {
        return true;
      }
    }
    return false;
  }

  const char* read_word(std::string& out) {
    while (at_ < text_.size() && !is_blank(text_[at_])) {
      const char c = text_[at_];
      opened_ = at_++;
      if (c == '\'') {
        const std::size_t end = text_.find('\'', at_);
        if (end == std::string_view::npos) {
          return "a single quote opened here is not closed";
        }
        out.append(text_, at_, end - at_);
        at_ = end + 1;
      } else if (c == '"') {
        if (!read_double(out)) {
          return "a double quote opened here is not closed";
        }
      } else if (c == '\\') {
        if (at_ == text_.size()) {
          return "a backslash ends the text";
        }
        if (text_[at_] != '\n') {
          out += text_[at_];
        }
        ++at_;
      } else {
        out += c;
      }
    }
    return nullptr;
  }

  bool read_double(std::string& out) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        return true;
      }
      if (c == '\\' && at_ < text_.size() && std::string_view("\\\"$`\n").find(text_[at_]) != std::string_view::npos) {
        if (text_[at_] != '\n') {
          out += text_[at_];
        }
        ++at_;
      } else {
        out += c;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0, opened_ = 0;
};

}  // namespace

tl::expected<std::vector<ShellWord>, WordsError> split_words(std::string_view text) { return Splitter(text).run(); }

}  // namespace sskj::profile
