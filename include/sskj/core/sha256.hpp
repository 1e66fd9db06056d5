// sha256 over OpenSSL's EVP.
#pragma once

#include <string>
#include <string_view>

namespace sskj {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace sskj
