// What this sskj calls itself. Defined in one translation unit: a new commit rebuilds that one only.
#pragma once

namespace sskj {

/// Version of the release, e.g. "0.1.0".
const char* version() noexcept;
/// `git describe` of the sources it was built from, or "unknown".
const char* commit() noexcept;

}  // namespace sskj
