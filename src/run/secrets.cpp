#include "secrets.hpp"

#include <algorithm>

namespace sskj::run {
namespace {

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
    if (out.find(secret) != std::string::npos) out = replaced(out, secret, "[secret]");
  }
  return out;
}

std::string render_secret(std::string_view text, std::string_view value) { return replaced(text, "{secret}", value); }

}  // namespace sskj::run
