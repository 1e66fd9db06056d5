// The yaml form under libFuzzer.
#include <cstddef>
#include <cstdint>

#include "fuzz_profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sskj::fuzz::parse_bytes({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  return 0;
}
