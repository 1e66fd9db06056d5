// Collects what an import found and writes it as our env form.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/profile/import.hpp"

namespace sskj::profile {

class Placer {
 public:
  /// A scalar setting; the first value stays and a different second one is refused. An invalid value is refused with the parser's own words.
  void set(const std::string& key, const std::string& value, std::size_t line, std::string_view raw);
  /// Words of a list setting (LAUNCH_ARGS, MOUNTS, ...).
  void add(const std::string& key, const std::vector<std::string>& words, std::size_t line, std::string_view raw);
  void refuse(std::size_t line, std::string_view raw, std::string reason);
  bool has(const std::string& key) const { return entries_.find(key) != entries_.end(); }
  std::string value(const std::string& key) const;
  std::vector<std::string>& words(const std::string& key) { return entries_[key].words; }

  Imported finish(const std::string& file) &&;

 private:
  struct Entry {
    std::string value;
    std::vector<std::string> words;
    bool list = false;
  };
  std::string problem(const std::string& key, const std::string& value) const;

  std::map<std::string, Entry> entries_;
  std::vector<std::string> order_;
  std::vector<Unplaced> unplaced_;
};

/// `docker run` options. Words that are no option end the reading.
void place_docker(Placer& placer, const std::vector<std::string>& words, std::size_t line);

/// A value in the env form's quotes.
std::string env_quote(std::string_view value);

}  // namespace sskj::profile
