// Connections: the fixture of the tests that connect once to a World's sshd over libssh2 and look at how that ends. One class for all of the program's files.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "world.hpp"

namespace sskj::test {

class Connections : public ::testing::Test {
 protected:
  Ran run(const plan::Node& node, ssh::Options options, const std::string& script = "echo ok") {
    options.way = ssh::Way::ssh2;
    const auto transport = ssh::make_transport(loop, std::move(options));
    return exec(loop, *transport, node, {script});
  }
  void expect_ok(const Ran& ran) {
    EXPECT_EQ(ran.status(), 0) << describe(ran.outcome);
    EXPECT_EQ(ran.out, "ok\n");
  }
  /// NotRun of a category, with each text in its message or hint.
  void expect_not_run(const Ran& ran, Errc code, const std::vector<std::string>& texts) {
    ASSERT_TRUE(ran.is<run::NotRun>()) << describe(ran.outcome);
    EXPECT_EQ(ran.error().code, code) << describe(ran.outcome);
    for (const auto& text : texts) {
      EXPECT_NE((ran.error().message + " " + ran.error().hint).find(text), std::string::npos) << "no `" << text << "` in: " << describe(ran.outcome);
    }
  }

  net::Loop loop;
  World world;
};

}  // namespace sskj::test
