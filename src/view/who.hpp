// Equal faults of several nodes and ranks: the text without what tells one from another, and with all of them named again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sskj::view {

/// On which nodes, and as which ranks, something happened.
struct Who {
  std::vector<std::string> nodes, ranks;
};

void add(Who& who, const std::string& node, const std::string& rank);

/// The number of the first rank that a text names: "server rank 3", "--rank 3", container "…_node3"; empty without one.
std::string first_rank(std::string_view text);

/// `text` with the node's id replaced by `name`, where it stands as a word of its own (174.1.60.5 is no part of 174.1.60.57).
std::string replace_node(std::string_view text, std::string_view node, std::string_view name);

/// `text` with a placeholder for the rank's own number wherever it is named as a rank.
std::string replace_rank(std::string_view text, std::string_view rank);

/// A message of one node and rank with placeholders for both: printable, bounded, its lines kept. Equal for equal faults.
std::string common_text(std::string_view text, const std::string& node, const std::string& rank);

/// The placeholders as all of `who`: nodes folded, "rank 0-3", "kimi3_node[0-3]".
std::string named(std::string_view text, const Who& who);
/// As the first of them alone: a command must name one.
std::string named_first(std::string_view text, const Who& who);

std::string folded(const std::vector<std::string>& nodes);
void add_unique(std::vector<std::string>& list, const std::string& text);

}  // namespace sskj::view
