#include "sskj/core/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace sskj {
namespace {

constexpr std::size_t k_max_piece = (1U << 20) * 3;  // EVP takes int lengths

bool is_alphabet(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/'; }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  std::vector<unsigned char> piece(k_max_piece / 3 * 4 + 1);
  for (std::size_t at = 0; at < bytes.size(); at += k_max_piece) {
    const std::string_view part = bytes.substr(at, k_max_piece);
    const int length = EVP_EncodeBlock(piece.data(), reinterpret_cast<const unsigned char*>(part.data()), static_cast<int>(part.size()));
    text.append(reinterpret_cast<const char*>(piece.data()), static_cast<std::size_t>(length));
  }
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const std::string_view body = text.substr(0, text.size() - padding);
  if (!std::all_of(body.begin(), body.end(), is_alphabet)) return std::nullopt;
  if (text.empty()) return std::string{};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

}  // namespace sskj
