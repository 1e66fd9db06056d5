#include "sskj/core/nodeset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sskj {
namespace {

std::vector<std::string> expanded(std::string_view text) {
  const auto names = nodeset::expand(text);
  return names ? *names : std::vector<std::string>{"error: " + names.error().message};
}

TEST(Nodeset, Expands_ranges_lists_and_padding) {
  EXPECT_EQ(expanded("174.1.60.[5-7]"), (std::vector<std::string>{"174.1.60.5", "174.1.60.6", "174.1.60.7"}));
  EXPECT_EQ(expanded("a,b c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(expanded("n[08-10]"), (std::vector<std::string>{"n08", "n09", "n10"}));
  EXPECT_EQ(expanded("r[1-2]n[3,5]"), (std::vector<std::string>{"r1n3", "r1n5", "r2n3", "r2n5"}));
  EXPECT_EQ(expanded("a,a,[1-1]"), (std::vector<std::string>{"a", "1"}));
  EXPECT_TRUE(expanded("").empty());
}

TEST(Nodeset, Refuses_what_it_cannot_read) {
  for (const char* text : {"a[1-3", "a]1", "a[[1]]", "a[3-1]", "a[]", "a[1-]", "a[x]", "a[1-99999999]", "a[1-100]b[1-100]", "a[1,,2]"}) {
    const auto names = nodeset::expand(text);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().code, Errc::usage);
    EXPECT_NE(names.error().message.find('\''), std::string::npos) << "names the text: " << names.error().message;
  }
}

TEST(Nodeset, Folds_into_ranges) {
  const auto fold = [](std::vector<std::string> names) { return nodeset::fold(names); };
  EXPECT_EQ(fold({"174.1.60.5", "174.1.60.6", "174.1.60.7"}), "174.1.60.[5-7]");
  EXPECT_EQ(fold({"174.1.60.10", "174.1.60.9", "174.1.60.5"}), "174.1.60.[5,9-10]");
  EXPECT_EQ(fold({"a"}), "a");
  EXPECT_EQ(fold({"head", "n08", "n09", "n10"}), "head,n[08-09,10]");
  EXPECT_EQ(fold({"x1y", "x2y", "x1z"}), "x[1-2]y,x1z");
  EXPECT_EQ(fold({}), "");
}

TEST(Nodeset, Unfolding_a_fold_names_the_same_set) {
  std::mt19937 random(3);
  const std::vector<std::string> prefixes{"n", "174.1.60.", "rack1-gpu", "h0", "x"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 12; ++i) names.push_back(prefixes[random() % prefixes.size()] + std::to_string(random() % 30) + (random() % 3 == 0 ? "" : ".lan"));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    auto back = nodeset::expand(nodeset::fold(names));
    ASSERT_TRUE(back) << nodeset::fold(names);
    std::sort(back->begin(), back->end());
    EXPECT_EQ(*back, names) << nodeset::fold(names);
  }
}

}  // namespace
}  // namespace sskj
