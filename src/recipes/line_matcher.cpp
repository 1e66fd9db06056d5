#include "line_matcher.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "sskj/core/text.hpp"
#include "sskj/recipes/drivers.hpp"

namespace sskj::recipes {
namespace {

constexpr std::size_t k_read = 4096;  ///< bytes of a line that are matched and kept

RE2::Options options() {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);  // logs are bytes; every pattern is ASCII
  options.set_log_errors(false);
  return options;
}

/// All patterns at once, then the groups of the one that hit. Compiled once, shared by copies of the matcher.
class Matcher {
 public:
  Matcher() : set_(options(), RE2::UNANCHORED) {
    for (const auto& row : signatures()) {
      const re2::StringPiece pattern(row.pattern.data(), row.pattern.size());
      set_.Add(pattern, nullptr);
      single_.push_back(std::make_unique<RE2>(pattern, options()));
    }
    set_.Compile();
  }

  std::optional<run::Phase> read(const plan::Step& step, std::string_view line) const {
    line = line.substr(0, k_read);
    std::vector<int> hits;
    if (!set_.Match(re2::StringPiece(line.data(), line.size()), &hits) || hits.empty()) return std::nullopt;
    // The table's order is its precedence: fatal signatures stand first.
    const auto index = static_cast<std::size_t>(*std::min_element(hits.begin(), hits.end()));
    const auto& row = signatures()[index];
    run::Phase phase;
    phase.node = step.node;
    phase.step = step.id;
    phase.line = text::printable(text::to_valid_utf8(line));
    phase.fatal = row.phase.empty();
    phase.name = row.phase;
    if (phase.fatal) phase.cause = std::string(row.cause) + " [" + std::string(row.id) + "]";
    phase.hint = row.hint;
    if (!phase.fatal && single_[index]->NumberOfCapturingGroups() == 2) count(*single_[index], line, phase);
    return phase;
  }

 private:
  static void count(const RE2& pattern, std::string_view line, run::Phase& phase) {
    std::uint64_t done = 0, total = 0;
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern, &done, &total) || done > total) return;
    phase.done = done;
    phase.total = total;
  }

  RE2::Set set_;
  std::vector<std::unique_ptr<RE2>> single_;
};

// table: the phases of a start in their order (sglang.md 3)
constexpr std::array<std::string_view, 8> k_order{"init", "rendezvous", "weights", "state-cache", "kv", "graphs", "warm-up", "ready"};

/// How far one start of a container came. Its workers write to one log, so that lines of an earlier phase or a smaller count still come after those of the foremost worker.
struct Reached {
  std::size_t order = 0;  ///< in k_order
  std::size_t done = 0, total = 0;
};

/// Whether `phase` is news after what was reached. A count with another total is another thing to count (draft model, second set of graphs).
bool advances(const run::Phase& phase, std::size_t order, Reached& reached) {
  const bool first = order == 0;  // the arguments are printed once, by the parent, before any worker exists: the container started anew
  if (!first && order < reached.order) return false;
  const bool same_count = order == reached.order && phase.total == reached.total && phase.total != 0;
  const bool lost_count = order == reached.order && phase.total == 0 && reached.total != 0;  // "Load weight end" of one worker while another still counts
  if (lost_count || (same_count && phase.done < reached.done)) return false;
  reached = {order, phase.done, phase.total};
  return true;
}

}  // namespace

run::LineMatcher make_line_matcher() {
  return [matcher = std::make_shared<const Matcher>(), starts = std::map<std::string, Reached, std::less<>>()](const plan::Step& step, std::string_view line) mutable -> std::optional<run::Phase> {
    auto phase = matcher->read(step, line);
    if (!phase) return phase;
    auto& reached = starts[step.id];
    if (phase->fatal) {  // it does not say in which phase it came: what came before in the same log does
      phase->name = k_order.at(reached.order);
      return phase;
    }
    const auto at = std::find(k_order.begin(), k_order.end(), phase->name);
    const auto order = static_cast<std::size_t>(at - k_order.begin());
    return advances(*phase, order, reached) ? phase : std::nullopt;
  };
}

}  // namespace sskj::recipes
