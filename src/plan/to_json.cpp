// Plan -> canonical JSON.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fields.hpp"
#include "sskj/core/base64.hpp"
#include "sskj/core/sha256.hpp"
#include "sskj/core/text.hpp"

namespace sskj::plan {
namespace {

using nlohmann::json;

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    object_[name] = to(value);
  }
  void octal(const char* name, std::uint32_t value) { object_[name] = fmt::format("{:04o}", value); }

  template <class T>
  static json object(const T& value) {
    Writer writer;
    fields(writer, value);
    return std::move(writer.object_);
  }

 private:
  static json to(const std::string& value) {
    // A string that JSON cannot carry travels as base64; the reader takes both forms anywhere, so that nothing is ever lost on the way.
    if (text::to_valid_utf8(value) == value) return value;
    return json{{"base64", base64_encode(value)}};
  }
  static json to(bool value) { return value; }
  template <std::integral T>
  static json to(T value) {
    return value;
  }
  static json to(Millis value) { return value.count(); }
  static json to(Errc value) { return std::string(to_string(value)); }
  template <class E>
    requires std::is_enum_v<E>
  static json to(E value) {
    for (const auto& entry : names_of(E{})) {
      if (entry.value == value) return std::string(entry.name);
    }
    return nullptr;
  }
  template <class T>
  static json to(const std::vector<T>& values) {
    json array = json::array();
    for (const auto& value : values) array.push_back(to(value));
    return array;
  }
  template <class T>
  static json to(const std::optional<T>& value) {
    return value ? to(*value) : json(nullptr);
  }
  static json to(const std::variant<std::string, SecretRef>& content) {
    return std::visit([](const auto& value) { return to(value); }, content);
  }
  static json to(const Action& action) {
    json result = std::visit([](const auto& value) { return object(value); }, action);
    result["type"] = std::string(k_action_types.at(action.index()));
    return result;
  }
  template <class T>
    requires std::is_class_v<T>
  static json to(const T& value) {
    return object(value);
  }

  json object_ = json::object();
};

}  // namespace

std::string to_json(const Plan& plan) { return Writer::object(plan).dump(2) + "\n"; }

std::string digest(const Plan& plan) { return sha256_hex(to_json(plan)); }

}  // namespace sskj::plan
