// Scripts: values assigned on top, each through shell::quote, then constant text.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sskj::recipes {

class Script {
 public:
  /// `title` becomes the first line, a comment; it must not hold values.
  explicit Script(std::string_view title);
  Script& set(std::string_view name, std::string_view value);
  Script& set(std::string_view name, long long value);
  Script& flag(std::string_view name, bool value);
  /// One item a line; items with a newline are a fault of the caller (paths and names are checked by the deployment).
  Script& list(std::string_view name, std::span<const std::string> items);
  /// A shell function around one finished command line.
  Script& function(std::string_view name, std::string_view command);
  /// The whole script: assignments, then the texts in order.
  std::string with(std::initializer_list<std::string_view> texts) const;

 private:
  std::string head_;
};

}  // namespace sskj::recipes
