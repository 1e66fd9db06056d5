#include "selection.hpp"

#include <gtest/gtest.h>

namespace sskj::app {
namespace {

std::vector<plan::Node> nodes(const std::vector<std::string>& names) {
  std::vector<plan::Node> out;
  for (const std::string& name : names) {
    plan::Node node;
    node.id = name;
    out.push_back(node);
  }
  return out;
}

const std::vector<plan::Node> k_four = nodes({"174.1.60.5", "174.1.60.6", "174.1.60.7", "174.1.60.8"});

TEST(Selection, Keeps_the_deployments_order) {
  EXPECT_EQ(select_nodes(k_four, "174.1.60.[7,5]", "").value(), (std::vector<std::string>{"174.1.60.5", "174.1.60.7"}));
  EXPECT_EQ(select_nodes(k_four, "", "174.1.60.[6-8]").value(), (std::vector<std::string>{"174.1.60.5"}));
  EXPECT_EQ(select_nodes(k_four, "", "").value().size(), 4U);
}

TEST(Selection, An_unknown_name_is_a_usage_error_with_the_nearest) {
  for (const auto& [limit, exclude] : {std::pair{"174.1.60.55", ""}, std::pair{"", "174.1.60.9"}}) {
    const auto chosen = select_nodes(k_four, limit, exclude);
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, Errc::usage);
    EXPECT_NE(chosen.error().hint.find("174.1.60."), std::string::npos);
  }
}

TEST(Selection, An_empty_selection_is_a_usage_error) {
  EXPECT_EQ(select_nodes(k_four, "174.1.60.5", "174.1.60.5").error().code, Errc::usage);
  EXPECT_EQ(bare_hosts("", "").error().code, Errc::usage);
  EXPECT_EQ(bare_hosts("a", "a").error().code, Errc::usage);
}

TEST(Selection, Bare_hosts_may_name_an_account) {
  const auto hosts = bare_hosts("ops@a,b[1-2]", "b1").value();
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[0].id, "ops@a");
  EXPECT_EQ(hosts[0].ssh.user, "ops");
  EXPECT_EQ(hosts[0].ssh.host, "a");
  EXPECT_EQ(hosts[1].ssh.host, "b2");
}

TEST(Selection, A_name_that_an_ssh_program_would_read_as_an_option_is_refused) {
  for (const char* bad : {"-oProxyCommand=x", "ops@-x", "-u@host", "ops@"}) {
    ASSERT_FALSE(bare_hosts(bad, "")) << bad;
    EXPECT_EQ(bare_hosts(bad, "").error().code, Errc::usage);
  }
}

}  // namespace
}  // namespace sskj::app
