// JSON -> Plan, strictly: what is unknown, missing, of another type, repeated or too large is an error that names its place.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "fields.hpp"
#include "sskj/core/base64.hpp"
#include "sskj/core/text.hpp"

namespace sskj::plan {
namespace {

using nlohmann::json;

constexpr std::size_t k_max_shown = 80;  // bytes of a foreign key or value in a message

/// Collects the first error; later ones are mostly its consequences.
struct Faults {
  std::optional<std::string> first;
  void add(const std::string& path, std::string_view message) {
    if (!first) first = fmt::format("{}: {}", path, message);
  }
};

std::string shown(std::string_view foreign) { return text::printable(foreign.substr(0, k_max_shown)); }

class Reader {
 public:
  Reader(const json& object, std::string path, Faults& faults) : object_(object), path_(std::move(path)), faults_(faults) {}

  template <class T>
  void operator()(const char* name, T& out) {
    if (const json* value = find(name)) from(*value, at(name), faults_, out);
  }

  void octal(const char* name, std::uint32_t& out) {
    std::string digits;
    (*this)(name, digits);
    if (faults_.first) return;
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("01234567") != std::string::npos) {
      return faults_.add(at(name), "expected an octal mode like \"0644\"");
    }
    out = 0;
    for (const char digit : digits) out = out * 8 + static_cast<std::uint32_t>(digit - '0');
  }

  template <class T>
  static void object(const json& value, const std::string& path, Faults& faults, T& out, std::string_view also_known = {}) {
    if (!value.is_object()) return faults.add(path, fmt::format("expected an object, got {}", value.type_name()));
    Reader reader(value, path, faults);
    fields(reader, out);
    reader.reject_unknown(also_known);
  }

 private:
  [[nodiscard]] std::string at(std::string_view name) const { return fmt::format("{}.{}", path_, name); }

  const json* find(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    faults_.add(at(name), "missing");
    return nullptr;
  }

  void reject_unknown(std::string_view also_known) {
    const std::vector<std::string> candidates(known_.begin(), known_.end());
    for (const auto& [key, value] : object_.items()) {
      if (known_.contains(key) || key == also_known) continue;
      const auto near = text::nearest(key, candidates);
      faults_.add(path_, fmt::format("unknown field \"{}\"{}", shown(key), near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
    }
  }

  static void expected(const json& value, const std::string& path, Faults& faults, std::string_view what) {
    faults.add(path, fmt::format("expected {}, got {}", what, value.type_name()));
  }

  static void from(const json& value, const std::string& path, Faults& faults, std::string& out) {
    if (value.is_string()) {
      out = value.get<std::string>();
      return;
    }
    const bool encoded = value.is_object() && value.size() == 1 && value.contains("base64") && value["base64"].is_string();
    if (!encoded) return expected(value, path, faults, "a string or {\"base64\": ...}");
    const auto bytes = base64_decode(value["base64"].get_ref<const std::string&>());
    if (!bytes) return faults.add(path + ".base64", "not well-formed base64");
    out = *bytes;
  }

  static void from(const json& value, const std::string& path, Faults& faults, bool& out) {
    if (!value.is_boolean()) return expected(value, path, faults, "true or false");
    out = value.get<bool>();
  }

  template <std::integral T>
  static void from(const json& value, const std::string& path, Faults& faults, T& out) {
    if (!value.is_number_integer()) return expected(value, path, faults, "an integer");
    const bool fits = value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())
                          : std::is_signed_v<T> && value.get<std::int64_t>() >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                                value.get<std::int64_t>() <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
    if (!fits) return faults.add(path, "number out of range");
    out = value.get<T>();
  }

  static void from(const json& value, const std::string& path, Faults& faults, Millis& out) {
    std::int64_t count = 0;
    from(value, path, faults, count);
    out = Millis(count);
  }

  static void from(const json& value, const std::string& path, Faults& faults, Errc& out) {
    if (!value.is_string()) return expected(value, path, faults, "a string");
    for (int code = 0; code <= static_cast<int>(Errc::internal); ++code) {
      if (to_string(static_cast<Errc>(code)) != value.get_ref<const std::string&>()) continue;
      out = static_cast<Errc>(code);
      return;
    }
    faults.add(path, fmt::format("\"{}\" is no error category", shown(value.get_ref<const std::string&>())));
  }

  template <class E>
    requires std::is_enum_v<E>
  static void from(const json& value, const std::string& path, Faults& faults, E& out) {
    if (!value.is_string()) return expected(value, path, faults, "a string");
    std::string words;
    for (const auto& entry : names_of(E{})) {
      if (entry.name == value.get_ref<const std::string&>()) {
        out = entry.value;
        return;
      }
      words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", entry.name);
    }
    faults.add(path, fmt::format("expected one of {}, got \"{}\"", words, shown(value.get_ref<const std::string&>())));
  }

  template <class T>
  static void from(const json& value, const std::string& path, Faults& faults, std::vector<T>& out) {
    if (!value.is_array()) return expected(value, path, faults, "an array");
    out.resize(value.size());
    for (std::size_t i = 0; i < value.size() && !faults.first; ++i) from(value[i], fmt::format("{}[{}]", path, i), faults, out[i]);
  }

  template <class T>
  static void from(const json& value, const std::string& path, Faults& faults, std::optional<T>& out) {
    if (value.is_null()) {
      out.reset();
      return;
    }
    from(value, path, faults, out.emplace());
  }

  static void from(const json& value, const std::string& path, Faults& faults, std::variant<std::string, SecretRef>& out) {
    if (value.is_object() && value.contains("secret")) return object(value, path, faults, out.emplace<SecretRef>());
    from(value, path, faults, out.emplace<std::string>());
  }

  template <std::size_t I = 0>
  static void action_of(std::string_view type, const json& value, const std::string& path, Faults& faults, Action& out) {
    if constexpr (I == k_action_types.size()) {
      faults.add(path + ".type", fmt::format("\"{}\" is no kind of step", shown(type)));
    } else if (type == k_action_types.at(I)) {
      object(value, path, faults, out.emplace<I>(), "type");
    } else {
      action_of<I + 1>(type, value, path, faults, out);
    }
  }

  static void from(const json& value, const std::string& path, Faults& faults, Action& out) {
    if (!value.is_object()) return expected(value, path, faults, "an object");
    const auto type = value.find("type");
    if (type == value.end()) return faults.add(path + ".type", "missing");
    if (!type->is_string()) return expected(*type, path + ".type", faults, "a string");
    action_of(type->get_ref<const std::string&>(), value, path, faults, out);
  }

  template <class T>
    requires std::is_class_v<T>
  static void from(const json& value, const std::string& path, Faults& faults, T& out) {
    object(value, path, faults, out);
  }

  const json& object_;
  std::string path_;
  Faults& faults_;
  std::set<std::string, std::less<>> known_;
};

/// The parser keeps the last of two equal keys in silence; a plan that says two things says nothing.
class DuplicateKeys {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.empty() && !open_.back().insert(parsed.get<std::string>()).second && !found) {
      found = parsed.get<std::string>();
    }
    return true;
  }
  std::optional<std::string> found;

 private:
  std::vector<std::set<std::string>> open_;
};

}  // namespace

Result<Plan> plan_from_json(std::string_view text) {
  if (text.size() > k_max_plan_json) return fail(Errc::usage, fmt::format("plan JSON: larger than {} MiB", k_max_plan_json >> 20));
  DuplicateKeys duplicates;
  const json parsed = json::parse(text, std::ref(duplicates), /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return fail(Errc::usage, "plan JSON: not well-formed JSON", "write one with `sskj plan -o json`");
  if (duplicates.found) return fail(Errc::usage, fmt::format("plan JSON: key \"{}\" occurs twice in one object", shown(*duplicates.found)));
  Faults faults;
  Plan plan;
  Reader::object(parsed, "$", faults, plan);
  if (faults.first) return fail(Errc::usage, "plan JSON: " + *faults.first, "write one with `sskj plan -o json`");
  return plan;
}

}  // namespace sskj::plan
