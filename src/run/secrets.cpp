#include "secrets.hpp"

#include <algorithm>
#include <utility>

namespace sskj::run {
namespace {

constexpr std::size_t k_longest_held = 64U << 10;
constexpr std::size_t k_longest_value = 2048;     // bytes of a secret with its name before it
constexpr std::size_t k_shortest_redacted = 4;  // replacing shorter values would garble all output and hide nothing

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what)) {
    out.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + what.size());
  }
  return out.append(text);
}

}  // namespace

Result<std::string> Secrets::value(const plan::SecretRef& ref) {
  if (!resolve_) return fail(Errc::internal, "no way to read the secret " + ref.ref + " was given to the executor");
  auto value = resolve_(ref);
  if (value && value->size() >= k_shortest_redacted && std::find(known_.begin(), known_.end(), *value) == known_.end()) {
    known_.push_back(*value);
    std::sort(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  }
  return value;
}

std::string Secrets::redact(std::string_view bytes) const {
  std::string out(bytes);
  for (const auto& secret : known_) {
    if (out.find(secret) != std::string::npos) out = replaced(out, secret, k_masked);
  }
  return out;
}

std::string Redactor::masked(std::string_view bytes) const { return engine_log_ ? mask_api_keys(secrets_.redact(bytes)) : secrets_.redact(bytes); }

std::string Redactor::feed(std::string_view bytes) {
  if (!engine_log_ && !secrets_.any() && held_.empty()) return std::string(bytes);
  const auto last = bytes.find_last_of("\n\r");
  const auto line_end = last == std::string_view::npos ? 0 : held_.size() + last + 1;
  held_.append(bytes);
  std::string ready = masked(std::string_view(held_).substr(0, line_end));
  held_.erase(0, line_end);
  if (held_.size() > k_longest_held) {
    // A line without end: all but its last bytes, in which a value may have begun. Masking the same bytes twice changes nothing.
    held_ = masked(held_);
    const auto sure = held_.size() - std::min(held_.size(), k_longest_value);
    ready.append(held_, 0, sure);
    held_.erase(0, sure);
  }
  return ready;
}

std::string Redactor::finish() { return masked(std::exchange(held_, {})); }

std::string render_secret(std::string_view text, std::string_view value) { return replaced(text, "{secret}", value); }

}  // namespace sskj::run
