// Secrets of a run: resolved when sent, kept out of everything that is reported.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sskj/core/result.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::run {

class Secrets {
 public:
  explicit Secrets(std::function<Result<std::string>(const plan::SecretRef&)> resolve) : resolve_(std::move(resolve)) {}

  Result<std::string> value(const plan::SecretRef& ref);
  /// `bytes` with every value resolved so far replaced by `[secret]`: SGLang prints its api_key among its arguments, and remote output is ours once reported.
  [[nodiscard]] std::string redact(std::string_view bytes) const;

 private:
  std::function<Result<std::string>(const plan::SecretRef&)> resolve_;
  std::vector<std::string> known_;  // longest first
};

/// Every `{secret}` of the template replaced.
std::string render_secret(std::string_view text, std::string_view value);

}  // namespace sskj::run
