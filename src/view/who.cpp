#include "who.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "sskj/core/nodeset.hpp"
#include "sskj/core/text.hpp"

namespace sskj::view {

namespace {

constexpr std::string_view k_node = "{node}";
constexpr std::string_view k_rank = "{rank}";
constexpr std::size_t k_max_message = 2000;  // bytes of one message, expectation or answer

bool word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; }

bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  if (at > 0 && (word_character(text[at - 1]) || text[at - 1] == '.')) {
    return false;
  }
  const std::size_t end = at + size;
  if (end >= text.size()) {
    return true;
  }
  const bool dotted = text[end] == '.' && end + 1 < text.size() && word_character(text[end + 1]);
  return !word_character(text[end]) && !dotted;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How plans name a rank: "server rank 3" in titles, "--rank 3" in commands, "…_node3" in container names.
constexpr std::array<std::string_view, 2> k_rank_marks{"rank ", "_node"};

// Where the number that begins at `begin` ends; `begin` where there is none.
std::size_t number_end(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && end - begin < 6 && is_digit(text[end])) {
    ++end;
  }
  return end < text.size() && is_digit(text[end]) ? begin : end;
}

std::string with_nodes(std::string_view text, const std::string& name) {
  std::string result{text};
  for (std::size_t at = result.find(k_node); at != std::string::npos; at = result.find(k_node, at + name.size())) {
    result.replace(at, k_node.size(), name);
  }
  return result;
}

// "rank 0-3", but "kimi3_node[0-3]": the first is read, the second is a name.
std::string with_ranks(std::string_view text, const std::vector<std::string>& ranks) {
  const std::string set = nodeset::fold(ranks);
  const std::string bare = set.starts_with('[') && set.ends_with(']') ? set.substr(1, set.size() - 2) : set;
  std::string result{text};
  for (std::size_t at = result.find(k_rank); at != std::string::npos && !ranks.empty();) {
    const std::string& shown = at > 0 && result[at - 1] == ' ' ? bare : set;
    result.replace(at, k_rank.size(), shown);
    at = result.find(k_rank, at + shown.size());
  }
  return result;
}

}  // namespace

void add(Who& who, const std::string& node, const std::string& rank) {
  add_unique(who.nodes, node);
  add_unique(who.ranks, rank);
}

std::string first_rank(std::string_view text) {
  for (const std::string_view mark : k_rank_marks) {
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      const std::size_t begin = at + mark.size();
      const std::size_t end = number_end(text, begin);
      if (end > begin) {
        return std::string(text.substr(begin, end - begin));
      }
    }
  }
  return {};
}

std::string replace_node(std::string_view text, std::string_view node, std::string_view name) {
  if (node.empty()) {
    return std::string(text);
  }
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = text.find(node); at != std::string_view::npos; at = text.find(node, at + node.size())) {
    if (stands_alone(text, at, node.size())) {
      result.append(text.substr(from, at - from)).append(name);
      from = at + node.size();
    }
  }
  return result.append(text.substr(from));
}

std::string replace_rank(std::string_view text, std::string_view rank) {
  std::string result;
  while (!rank.empty() && !text.empty()) {
    std::size_t at = std::string_view::npos;
    std::size_t begin = 0;
    for (const std::string_view mark : k_rank_marks) {
      const std::size_t found = text.find(std::string(mark).append(rank));
      if (found < at) {
        at = found;
        begin = found + mark.size();
      }
    }
    if (at == std::string_view::npos) {
      break;
    }
    const bool own = number_end(text, begin) == begin + rank.size();
    result.append(text.substr(0, begin)).append(own ? k_rank : rank);
    text.remove_prefix(begin + rank.size());
  }
  return result.append(text);
}

std::string common_text(std::string_view text, const std::string& node, const std::string& rank) {
  const std::string common = replace_rank(replace_node(text, node, k_node), rank);
  return text::printable(text::to_valid_utf8(common, k_max_message), true);
}

std::string named(std::string_view text, const Who& who) { return with_ranks(with_nodes(text, folded(who.nodes)), who.ranks); }

std::string named_first(std::string_view text, const Who& who) {
  const auto first = [](const std::vector<std::string>& list) { return std::vector<std::string>(list.begin(), list.begin() + (list.empty() ? 0 : 1)); };
  return named(text, {first(who.nodes), first(who.ranks)});
}

std::string folded(const std::vector<std::string>& nodes) { return text::printable(nodeset::fold(nodes)); }

void add_unique(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) {
    list.push_back(text);
  }
}

}  // namespace sskj::view
