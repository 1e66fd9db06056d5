// API keys by the look of them: a scanner over the spellings that engines, servers and shells print.
#include <algorithm>
#include <array>
#include <cctype>

#include "secrets.hpp"

namespace sskj::run {
namespace {

constexpr std::string_view k_quotes = "'\"";
constexpr std::string_view k_ends = " \t\r\n,;&)]}'\"\\";  // of a value without quotes
constexpr std::array<std::string_view, 6> k_nothing{"None", "null", "True", "False", "true", "false"};  // a name without a value

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b) || (a == '-' && b == '_');
}

std::size_t find_word(std::string_view text, std::string_view word, std::size_t from) {
  const auto at = std::search(text.begin() + static_cast<std::ptrdiff_t>(std::min(from, text.size())), text.end(), word.begin(), word.end(), same_letter);
  return at == text.end() ? std::string_view::npos : static_cast<std::size_t>(at - text.begin());
}

/// `at` behind all of `set`.
std::size_t skip(std::string_view text, std::size_t at, std::string_view set) { return std::min(text.find_first_not_of(set, at), text.size()); }

struct Span {
  std::size_t begin = 0, end = 0;
};

/// The value that begins at `at`, without its quotes. An unfinished quoted one goes to the end of its line.
Span value_at(std::string_view text, std::size_t at) {
  if (at < text.size() && k_quotes.find(text[at]) != std::string_view::npos) {
    const std::array<char, 3> last{text[at], '\n', '\r'};
    std::size_t end = at + 1;
    while (end < text.size() && std::find(last.begin(), last.end(), text[end]) == last.end()) end += text[end] == '\\' ? 2U : 1U;
    return {at + 1, std::min(end, text.size())};
  }
  const std::size_t begin = text.substr(at).starts_with(k_masked) ? at + k_masked.size() : at;  // masked already, and the rest of it came later
  return {at, std::min(text.find_first_of(k_ends, begin), text.size())};
}

/// Behind a name that ends at `at`: its value, or nothing where the name merely stands in a sentence.
Span value_of_key(std::string_view text, std::size_t name, std::size_t at) {
  const bool option = name > 0 && text[name - 1] == '-';  // --api-key X, --admin-api-key X: a blank or a comma separates too
  at += at < text.size() && k_quotes.find(text[at]) != std::string_view::npos ? 1U : 0U;
  const std::size_t sign = skip(text, at, " \t");
  if (sign < text.size() && (text[sign] == '=' || text[sign] == ':')) return value_at(text, skip(text, sign + 1, " \t"));
  const std::size_t next = option ? skip(text, at, " \t,") : at;
  return next == at ? Span{} : value_at(text, next);
}

Span value_of_header(std::string_view text, std::size_t at) {
  constexpr std::string_view k_bearer = "bearer";
  constexpr std::size_t k_between = 8;  // ": ", "': b'" and the like
  const std::size_t bearer = find_word(text.substr(0, at + k_between + k_bearer.size()), k_bearer, at);
  if (bearer == std::string_view::npos) return {};
  const std::size_t begin = skip(text, bearer + k_bearer.size(), " \t");
  return begin == bearer + k_bearer.size() ? Span{} : value_at(text, begin);
}

}  // namespace

std::string mask_api_keys(std::string_view text) {
  constexpr std::string_view k_key = "api_key";
  constexpr std::string_view k_header = "authorization";
  std::string out;
  std::size_t done = 0;
  std::size_t key = find_word(text, k_key, 0);
  std::size_t header = find_word(text, k_header, 0);
  for (std::size_t from = 0;;) {  // each is looked for again only when it was passed: remote text must not make this quadratic
    if (key < from) key = find_word(text, k_key, from);
    if (header < from) header = find_word(text, k_header, from);
    const std::size_t name = std::min(key, header);
    if (name == std::string_view::npos) break;
    from = name + (key < header ? k_key : k_header).size();
    const Span value = key < header ? value_of_key(text, name, from) : value_of_header(text, from);
    const std::string_view word = text.substr(value.begin, value.end - value.begin);
    if (word.empty() || word.starts_with("--") || std::find(k_nothing.begin(), k_nothing.end(), word) != k_nothing.end()) continue;
    out.append(text.substr(done, value.begin - done)).append(k_masked);
    done = from = value.end;
  }
  return out.append(text.substr(done));
}

}  // namespace sskj::run
