// Base64 (RFC 4648, padded), over OpenSSL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sskj {

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);  ///< nullopt unless well-formed

}  // namespace sskj
