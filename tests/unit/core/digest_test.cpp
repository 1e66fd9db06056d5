#include <gtest/gtest.h>

#include <random>

#include "sskj/core/base64.hpp"
#include "sskj/core/sha256.hpp"

namespace sskj {
namespace {

TEST(Sha256, Matches_the_standards_vectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Base64, Round_trips_any_bytes) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 70; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random() % 256);
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
  EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
}

TEST(Base64, Refuses_malformed_text) {
  for (const char* bad : {"a", "ab=c", "====", "Zm9v\n", "Zm9vYg=", "Zm 9"}) EXPECT_EQ(base64_decode(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace sskj
