#include "sskj/core/shell.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <vector>

namespace sskj {
namespace {

// What a real sh makes of the quoted word.
std::string through_sh(const std::string& quoted) {
  const std::string command = "exec 2>/dev/null; printf %s " + quoted;
  std::string out;
  std::string script = "sh -c " + shell::quote(command);
  FILE* pipe = popen(script.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  char buffer[4096];
  std::size_t got = 0;
  while ((got = fread(buffer, 1, sizeof buffer, pipe)) > 0) out.append(buffer, got);
  pclose(pipe);
  return out;
}

TEST(Shell, Plain_words_stay_as_they_are) {
  EXPECT_EQ(shell::quote("--tp-size=32"), "--tp-size=32");
  EXPECT_EQ(shell::quote("/data/hf_models/Kimi-K3"), "/data/hf_models/Kimi-K3");
}

TEST(Shell, Empty_word_is_two_quotes) { EXPECT_EQ(shell::quote(""), "''"); }

TEST(Shell, Awkward_words_survive_a_real_shell) {
  const std::vector<std::string> words{"a b",  "it's", "\"x\"", "$HOME", "`id`", "; rm -rf /nowhere", "{\"a\": [1, 2]}", "{{ .Names }}", "Größe 大小",
                                       "a\nb", "a\\b", "*?[x]", "-n",    "~",    "#x",                "!!",              "trailing\n\n", "\t"};
  for (const std::string& word : words) EXPECT_EQ(through_sh(shell::quote(word)), word) << word;
}

TEST(Shell, Random_bytes_survive_a_real_shell) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> byte(1, 255);
  for (int round = 0; round < 60; ++round) {
    std::string word;
    for (int i = 0; i < 40; ++i) word += static_cast<char>(byte(random));
    EXPECT_EQ(through_sh(shell::quote(word)), word);
  }
}

TEST(Shell, Nul_bytes_are_removed_since_no_process_can_take_them) { EXPECT_EQ(shell::quote(std::string("a\0b", 3)), "'ab'"); }

TEST(Shell, Join_quotes_each_word) {
  const std::vector<std::string> words{"docker", "run", "a b"};
  EXPECT_EQ(shell::join(words), "docker run 'a b'");
}

}  // namespace
}  // namespace sskj
