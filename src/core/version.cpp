#include "sskj/core/version.hpp"

#include "sskj/build_version.hpp"

namespace sskj {

const char* version() noexcept { return k_version; }
const char* commit() noexcept { return k_commit; }

}  // namespace sskj
