#include "sskj/core/sha256.hpp"

#include <openssl/evp.h>

#include <array>

namespace sskj {

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) return {};
  std::string text;
  text.reserve(std::size_t{length} * 2);
  for (unsigned int i = 0; i < length; ++i) {
    text += k_hex[digest[i] >> 4U];
    text += k_hex[digest[i] & 0xFU];
  }
  return text;
}

}  // namespace sskj
