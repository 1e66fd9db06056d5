// Tree -> typed Profile, with every unknown key and bad value reported.
#pragma once

#include "sskj/profile/profile.hpp"
#include "tree.hpp"

namespace sskj::profile {

/// Not called bind: std::bind would win by argument-dependent lookup. Fills groups, artifacts, settings and where; name and file are the caller's.
void bind_tree(const Value& root, Profile& profile, Diagnostics& diagnostics);

}  // namespace sskj::profile
