#include "line_matcher.hpp"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
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

}  // namespace

run::LineMatcher make_line_matcher() {
  // A fatal line does not say in which phase it came: that of the same log's line before does.
  return [matcher = std::make_shared<const Matcher>(), last = std::map<std::string, std::string, std::less<>>()](const plan::Step& step, std::string_view line) mutable {
    auto phase = matcher->read(step, line);
    if (!phase) return phase;
    auto& before = last[step.id];
    if (phase->fatal) {
      phase->name = before.empty() ? "init" : before;
    } else {
      before = phase->name;
    }
    return phase;
  };
}

}  // namespace sskj::recipes
