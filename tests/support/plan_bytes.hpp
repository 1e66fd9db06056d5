// The promise of a dry-run (design 5.3): what would be shown is what is sent.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sskj/plan/plan.hpp"

namespace sskj::test {

/// Runs the executor with all the plan's steps (branches and undo as well) over a strict fake that accepts everything (every judge says ok, every secret is `k_test_secret`) and compares, per
/// node and in order, the bytes it received (scripts, inputs, requests) with those that the plan's JSON holds. Also: validate(plan) is content, the JSON round trip
/// is the identity, every step was sent exactly once, and no secret is in the JSON, the text or an event.
testing::AssertionResult sends_exactly_its_json(const plan::Plan& plan);

inline constexpr const char* k_test_secret = "s3cret-value-of-the-test";

}  // namespace sskj::test
