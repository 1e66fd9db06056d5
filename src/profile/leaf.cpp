#include "leaf.hpp"

#include <fmt/format.h>

#include <utility>

#include "keys.hpp"
#include "leaf_text.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/core/text.hpp"
#include "words.hpp"

namespace sskj::profile {

namespace {

constexpr std::size_t k_shown = 60;

std::string shown(std::string_view text) {
  const std::string clean = text::printable(text);
  return clean.size() <= k_shown ? clean : text::to_valid_utf8(clean, k_shown) + "...";
}

class Reader {
 public:
  Reader(const Row& row, const Value& value, const std::string& path, Diagnostics& diagnostics, Origins& where)
      : row_(row), value_(value), path_(path), diagnostics_(diagnostics), where_(where) {}

  std::optional<Leaf> run() {
    switch (row_.type) {
      case Type::words: return strings();
      case Type::env: return env();
      case Type::mounts: return mounts();
      case Type::ulimits: return ulimits();
      default: break;
    }
    if (value_.kind != Value::Kind::scalar) {
      return wrong_kind(value_);
    }
    return one(value_.text);
  }

 private:
  std::nullopt_t wrong_kind(const Value& got) {
    const char* kind = got.kind == Value::Kind::list ? "a list" : got.kind == Value::Kind::map ? "a map" : "nothing";
    diagnostics_.push_back({Severity::error, "bad-type",
                            fmt::format("{}: got {}, expected {}", shown_name(row_, path_, value_.at), kind, describe(row_)), "", got.at, ""});
    return std::nullopt;
  }

  std::nullopt_t bad(const SourceRef& at, std::string_view got, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, "bad-value",
                            fmt::format("{}: \"{}\" is not {}", shown_name(row_, path_, value_.at), shown(got), describe(row_)), std::move(hint), at,
                            ""});
    return std::nullopt;
  }

  std::optional<Leaf> text_if(bool ok, std::string_view text, std::string hint = {}) {
    if (!ok) {
      return bad(value_.at, text, std::move(hint));
    }
    return Leaf(std::string(text));
  }

  std::optional<Leaf> one(const std::string& text) {
    switch (row_.type) {
      case Type::text: return text_if(text.find('\0') == std::string::npos, text);
      case Type::line:
      case Type::reference: return text_if(is_line(text), text);
      case Type::name: return text_if(is_name(text), text);
      case Type::host: return text_if(is_host(text), text);
      case Type::address: return text_if(text.empty() || is_address(text), text, "names are not resolved here");
      case Type::gpus: return text_if(text.empty() || is_gpus(text), text);
      case Type::word: return text_if(text.empty() || is_word(text), text);
      case Type::path: return text_if(text.empty() || is_absolute_path(text), text);
      case Type::sha256: return text_if(text.empty() || is_sha256(text), text);
      case Type::artifact_source: return text_if(is_artifact_source(text), text, "a file beside the profile is written file:NAME");
      case Type::choice: return choice(text);
      case Type::secret: return secret(text);
      default: return number(text);
    }
  }

  // Loose on purpose: a bare list such as 0,1 is refused by a lint that explains docker's comma.
  static bool is_gpus(std::string_view text) {
    return is_line(text) && text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=,_:-\"") == std::string_view::npos;
  }

  std::optional<Leaf> choice(const std::string& text) {
    std::vector<std::string> names;
    const auto words = split_words(row_.choices);
    for (const ShellWord& word : *words) {
      if (word.text == text) {
        return Leaf(text);
      }
      names.push_back(word.text);
    }
    const auto near = text::nearest(text, names);
    return bad(value_.at, text, near ? "did you mean " + *near + "?" : std::string());
  }

  std::optional<Leaf> secret(const std::string& text) {
    if (text.empty() || is_secret_reference(text)) {
      return Leaf(text);
    }
    diagnostics_.push_back({Severity::error, "literal-secret",
                            fmt::format("{}: a secret is given by reference only (the value is not shown here)", shown_name(row_, path_, value_.at)),
                            "write from_env:NAME or from_file:PATH; if this was a real key, take it out of the file and replace it", value_.at, ""});
    return std::nullopt;
  }

  std::optional<Leaf> number(const std::string& text) {
    switch (row_.type) {
      case Type::duration: return duration(text);
      case Type::bytes: return bytes(text);
      case Type::boolean:
        if (const auto value = to_boolean(text)) {
          return Leaf(*value);
        }
        return bad(value_.at, text);
      case Type::port: return ranged(to_number(text), text, 1, 65535);
      case Type::mode: return ranged(to_number(text, 8), text, 0, 07777);
      default: return ranged(to_number(text), text, row_.min, row_.max);
    }
  }

  std::optional<Leaf> ranged(std::optional<std::uint64_t> value, std::string_view text, std::uint64_t min, std::uint64_t max) {
    if (!value || *value < min || *value > max) {
      return bad(value_.at, text);
    }
    return Leaf(*value);
  }

  std::optional<Leaf> duration(const std::string& text) {
    const auto parsed = text::parse_duration(text);
    if (!parsed) {
      return bad(value_.at, text, parsed.error().message);
    }
    const auto count = static_cast<std::uint64_t>(parsed->count());
    if (row_.max != 0 && (count < row_.min || count > row_.max)) {
      return bad(value_.at, text);
    }
    return Leaf(*parsed);
  }

  std::optional<Leaf> bytes(const std::string& text) {
    const auto parsed = text::parse_bytes(text);
    if (!parsed) {
      return bad(value_.at, text, parsed.error().message);
    }
    if (std::holds_alternative<std::string GroupSetting::*>(row_.field)) {
      return Leaf(text);
    }
    return Leaf(*parsed);
  }

  void place(std::size_t index, const SourceRef& at) { where_[path_ + "." + std::to_string(index)] = at; }

  // The items of a word list with their positions; nullopt after a diagnostic.
  std::optional<std::vector<std::pair<std::string, SourceRef>>> items() {
    std::vector<std::pair<std::string, SourceRef>> out;
    if (value_.kind == Value::Kind::scalar) {
      const auto words = split_words(value_.text);
      if (!words) {
        diagnostics_.push_back({Severity::error, "syntax", fmt::format("{}: {}", shown_name(row_, path_, value_.at), words.error().message),
                                "the value is split into words as a shell would", position(value_, words.error().offset), ""});
        return std::nullopt;
      }
      for (const ShellWord& word : *words) {
        out.emplace_back(word.text, position(value_, word.offset));
      }
      return out;
    }
    if (value_.kind != Value::Kind::list) {
      return wrong_kind(value_);
    }
    for (const Value& item : value_.items) {
      if (item.kind != Value::Kind::scalar) {
        return wrong_kind(item);
      }
      out.emplace_back(item.text, item.at);
    }
    return out;
  }

  std::optional<Leaf> strings() {
    const auto words = items();
    if (!words) {
      return std::nullopt;
    }
    std::vector<std::string> out;
    for (const auto& [word, at] : *words) {
      place(out.size(), at);
      out.push_back(word);
    }
    return Leaf(std::move(out));
  }

  std::optional<Leaf> env() {
    if (value_.kind != Value::Kind::map) {
      return wrong_kind(value_);
    }
    std::vector<EnvSetting> out;
    bool ok = true;
    for (const Member& member : value_.members) {
      where_[path_ + "." + member.key] = member.at;
      if (!is_variable(member.key)) {
        bad(member.at, member.key, "a variable's name is letters, digits and _, not starting with a digit");
        ok = false;
      } else if (member.value.kind != Value::Kind::scalar) {
        wrong_kind(member.value);
        ok = false;
      } else {
        out.push_back({member.key, member.value.text});
      }
    }
    return ok ? std::optional(Leaf(std::move(out))) : std::nullopt;
  }

  static bool mount_options(std::string_view options, MountSetting& mount) {
    while (!options.empty()) {
      const std::size_t comma = options.find(',');
      const std::string_view option = options.substr(0, comma);
      if (option == "ro") {
        mount.read_only = true;
      } else if (option == "create") {
        mount.create = true;
      } else if (option != "rw") {
        return false;
      }
      options = comma == std::string_view::npos ? std::string_view() : options.substr(comma + 1);
    }
    return true;
  }

  static std::optional<MountSetting> mount(std::string_view text) {
    MountSetting out;
    const std::size_t first = text.find(':');
    if (first == std::string_view::npos) {
      return std::nullopt;
    }
    const std::size_t second = text.find(':', first + 1);
    out.source = text.substr(0, first);
    out.target = text.substr(first + 1, second == std::string_view::npos ? text.npos : second - first - 1);
    const bool options = second == std::string_view::npos || mount_options(text.substr(second + 1), out);
    return options && is_absolute_path(out.source) && is_absolute_path(out.target) ? std::optional(out) : std::nullopt;
  }

  std::optional<MountSetting> mount(const Value& map) {
    MountSetting out;
    bool ok = true;
    for (const Member& member : map.members) {
      const std::string& text = member.value.text;
      const auto flag = to_boolean(text);
      if (member.key == "source" || member.key == "target") {
        (member.key == "source" ? out.source : out.target) = text;
        ok = is_absolute_path(text) && ok;
      } else if ((member.key == "read_only" || member.key == "create") && flag) {
        (member.key == "create" ? out.create : out.read_only) = *flag;
      } else {
        bad(member.at, member.key, "a mount has source, target, read_only, create");
        return std::nullopt;
      }
    }
    ok = ok && !out.source.empty() && !out.target.empty();
    return ok ? std::optional(out) : std::nullopt;
  }

  std::optional<Leaf> mounts() {
    Value words = value_;
    if (value_.kind == Value::Kind::scalar) {
      const auto split = items();
      if (!split) {
        return std::nullopt;
      }
      words.kind = Value::Kind::list;
      for (const auto& [word, at] : *split) {
        words.items.push_back(scalar(word, at));
      }
    }
    if (words.kind != Value::Kind::list) {
      return wrong_kind(value_);
    }
    std::vector<MountSetting> out;
    bool ok = true;
    for (const Value& item : words.items) {
      place(out.size(), item.at);
      const std::size_t before = diagnostics_.size();
      const auto read = item.kind == Value::Kind::map ? mount(item) : item.kind == Value::Kind::scalar ? mount(std::string_view(item.text)) : std::nullopt;
      if (!read && diagnostics_.size() == before) {
        bad(item.at, item.kind == Value::Kind::scalar ? std::string_view(item.text) : "item");
      }
      ok = ok && read;
      out.push_back(read.value_or(MountSetting{}));
    }
    return ok ? std::optional(Leaf(std::move(out))) : std::nullopt;
  }

  static std::optional<UlimitSetting> ulimit(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return std::nullopt;
    }
    const std::string_view name = text.substr(0, equals), limits = text.substr(equals + 1);
    const std::size_t colon = limits.find(':');
    const auto soft = to_signed(limits.substr(0, colon));
    const auto hard = colon == std::string_view::npos ? soft : to_signed(limits.substr(colon + 1));
    const bool name_ok = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
    if (!name_ok || !soft || !hard || *soft < -1 || *hard < -1) {
      return std::nullopt;
    }
    return UlimitSetting{std::string(name), *soft, *hard};
  }

  std::optional<Leaf> ulimits() {
    std::vector<std::pair<std::string, SourceRef>> words;
    if (value_.kind == Value::Kind::map) {
      for (const Member& member : value_.members) {
        words.emplace_back(member.key + "=" + member.value.text, member.at);
      }
    } else if (auto split = items()) {
      words = std::move(*split);
    } else {
      return std::nullopt;
    }
    std::vector<UlimitSetting> out;
    bool ok = true;
    for (const auto& [word, at] : words) {
      if (const auto limit = ulimit(word)) {
        where_[path_ + "." + limit->name] = at;
        out.push_back(*limit);
      } else {
        bad(at, word);
        ok = false;
      }
    }
    return ok ? std::optional(Leaf(std::move(out))) : std::nullopt;
  }

  const Row& row_;
  const Value& value_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  Origins& where_;
};

}  // namespace

std::optional<Leaf> read_leaf(const Row& row, const Value& value, const std::string& path, Diagnostics& diagnostics, Origins& where) {
  return Reader(row, value, path, diagnostics, where).run();
}

std::string written(const Row& row, const Value& value) {
  const bool list = row.type == Type::words || row.type == Type::mounts || row.type == Type::ulimits;
  if (value.kind == Value::Kind::scalar && list) {
    std::vector<std::string> words;
    if (const auto split = split_words(value.text)) {
      for (const ShellWord& word : *split) {
        words.push_back(word.text);
      }
      return shell::join(words);
    }
  }
  if (value.kind == Value::Kind::scalar) {
    return row.type == Type::secret && !value.text.empty() && !is_secret_reference(value.text) ? "(refused literal)" : value.text;
  }
  std::vector<std::string> words;
  for (const Value& item : value.items) {
    if (item.kind == Value::Kind::scalar) {
      words.push_back(item.text);
    } else {
      std::string joined;
      for (const Member& member : item.members) {
        joined += (joined.empty() ? "" : ",") + member.key + "=" + member.value.text;
      }
      words.push_back(std::move(joined));
    }
  }
  for (const Member& member : value.members) {
    words.push_back(member.key + "=" + member.value.text);
  }
  return shell::join(words);
}

}  // namespace sskj::profile
