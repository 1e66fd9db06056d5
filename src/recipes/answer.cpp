// Reading an answer: whole words, digit grouping, reasoning text.
#include <algorithm>

#include "judges.hpp"

namespace sskj::recipes {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool word(char c) { return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// What people and models put between groups of three digits: comma, blank, apostrophe, no-break blanks, LaTeX {,}.
constexpr std::string_view k_separators[] = {",", " ", "'", "_", "\u00a0", "\u202f", "\u2009", "{,}", "\\,", "\\ "};

std::size_t separator_at(std::string_view text, std::size_t at) {
  for (const auto separator : k_separators) {
    if (text.substr(at).starts_with(separator)) return separator.size();
  }
  return 0;
}

bool three_digits_at(std::string_view text, std::size_t at) {
  const auto end = at + 3;
  return end <= text.size() && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at), text.begin() + static_cast<std::ptrdiff_t>(end), digit) &&
         (end == text.size() || !digit(text[end]));
}

/// "1,081" -> "1081": a separator between a digit and exactly three digits goes.
std::string ungrouped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const auto gap = !plain.empty() && digit(plain.back()) ? separator_at(text, at) : 0;
    if (gap != 0 && three_digits_at(text, at + gap)) {
      at += gap;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char before = text[at - 1];
  if (word(before) || before == '-') return false;
  return !(before == '.' && at > 1 && digit(text[at - 2]));
}

bool ends_word(std::string_view text, std::size_t end) {
  if (end == text.size()) return true;
  if (word(text[end])) return false;
  return !((text[end] == '.' || text[end] == ',') && end + 1 < text.size() && digit(text[end + 1]));
}

bool holds_word(std::string_view text, std::string_view expected) {
  for (auto at = text.find(expected); at != std::string_view::npos; at = text.find(expected, at + 1)) {
    if (begins_word(text, at) && ends_word(text, at + expected.size())) return true;
  }
  return false;
}

/// Content is a string, null, or a list of parts with text.
std::string content_of(const Json& message, const char* key) {
  if (!message.is_object() || !message.contains(key)) return {};
  const auto& value = message[key];
  if (value.is_string()) return value.get<std::string>();
  std::string joined;
  if (value.is_array()) {
    for (const auto& part : value) joined += text_of(part, "text");
  }
  return joined;
}

std::string error_of(const Json& body) {
  if (body.contains("error")) {
    const auto& error = body["error"];
    if (error.is_string()) return error.get<std::string>();
    if (error.is_object()) return text_of(error, "message").empty() ? error.dump() : text_of(error, "message");
  }
  return text_of(body, "object") == "error" ? text_of(body, "message") : std::string();
}

}  // namespace

bool says(std::string_view text, std::string_view expected) {
  return !expected.empty() && (holds_word(text, expected) || holds_word(ungrouped(text), expected) || holds_word(ungrouped(text), ungrouped(expected)));
}

bool correct(const Answer& answer, std::string_view expected) {
  if (says(answer.content, expected)) return true;
  const bool content_answers = std::any_of(answer.content.begin(), answer.content.end(), digit);
  return !content_answers && says(answer.reasoning, expected);
}

Answer read_answer(std::string_view body) {
  Answer answer;
  const auto parsed = Json::parse(body, nullptr, false);
  if (!parsed.is_object()) return answer;
  answer.json = true;
  answer.error = error_of(parsed);
  if (!parsed.contains("choices") || !parsed["choices"].is_array() || parsed["choices"].empty()) return answer;
  const auto& choice = parsed["choices"][0];
  if (!choice.is_object()) return answer;
  answer.finish_reason = text_of(choice, "finish_reason");
  const auto message = choice.contains("message") ? choice["message"] : Json::object();
  answer.content = content_of(message, "content");
  answer.reasoning = content_of(message, "reasoning_content");
  if (answer.reasoning.empty()) answer.reasoning = content_of(message, "reasoning");
  return answer;
}

}  // namespace sskj::recipes
