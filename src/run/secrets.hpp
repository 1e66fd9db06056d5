// Secrets of a run: resolved when sent, kept out of everything that is reported.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::run {

inline constexpr std::string_view k_masked = "[secret]";

class Secrets {
 public:
  explicit Secrets(std::function<Result<std::string>(const plan::SecretRef&)> resolve) : resolve_(std::move(resolve)) {}

  Result<std::string> value(const plan::SecretRef& ref);
  /// `bytes` with every value resolved so far replaced by `[secret]`: SGLang prints its api_key among its arguments, and remote output is ours once reported.
  [[nodiscard]] std::string redact(std::string_view bytes) const;
  [[nodiscard]] bool any() const { return !known_.empty(); }

 private:
  std::function<Result<std::string>(const plan::SecretRef&)> resolve_;
  std::vector<std::string> known_;  // longest first
};

/// Every `{secret}` of the template replaced.
std::string render_secret(std::string_view text, std::string_view value);

/// API keys in the spellings in which engines print them, masked whatever their values: `api_key='X'` (also "api_key": "X", api-key: 'X', admin_api_key), `--api-key X`,
/// `Authorization: Bearer X`. Names without a value (api_key=None) stay. Idempotent.
std::string mask_api_keys(std::string_view text);

/// One stream of remote output without secrets. Output comes in pieces that may end inside a value, so what is not a whole line waits for the rest of it; where there is nothing to
/// mask every piece passes at once.
class Redactor {
 public:
  Redactor(const Secrets& secrets, bool engine_log) : secrets_(secrets), engine_log_(engine_log) {}

  /// What can be reported by now.
  std::string feed(std::string_view bytes);
  /// The rest.
  std::string finish();

 private:
  [[nodiscard]] std::string masked(std::string_view bytes) const;

  const Secrets& secrets_;
  bool engine_log_;
  std::string held_;
};

}  // namespace sskj::run
