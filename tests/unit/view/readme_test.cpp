// The READMEs' tables of exit codes are core's.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sskj/core/exit_code.hpp"

namespace sskj::view {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(SSKJ_SOURCE_DIR) + "/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Readme, Lists_every_exit_code_with_its_meaning_and_no_other) {
  std::string table;
  for (const ExitCode code : all_exit_codes()) {
    table += "| " + std::to_string(static_cast<int>(code)) + " | " + std::string(describe(code)) + " |\n";
  }
  EXPECT_NE(read("README.md").find("|---|---|\n" + table + "\n"), std::string::npos) << "README.md should hold\n" << table;
}

TEST(Readme, Chinese_table_has_the_same_rows_in_the_same_order) {
  const std::string text = read("README.zh-CN.md");
  std::size_t at = text.find("## 退出码");
  ASSERT_NE(at, std::string::npos);
  for (const ExitCode code : all_exit_codes()) {
    const std::string start = "\n| " + std::to_string(static_cast<int>(code)) + " | ";
    const std::size_t row = text.find(start, at);
    ASSERT_NE(row, std::string::npos) << start;
    const std::string line = text.substr(row, text.find('\n', row + 1) - row);
    EXPECT_NE(line.find("(" + std::string(describe(code)) + ") |"), std::string::npos) << line;
    at = row;
  }
}

TEST(Readme, Order_of_severity_is_the_one_that_most_severe_uses) {
  std::string text = read("README.md");
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::string lead = "the first of ";
  const std::size_t at = text.find(lead);
  ASSERT_NE(at, std::string::npos);
  std::stringstream list(text.substr(at + lead.size(), text.find(';', at) - at - lead.size()));
  std::vector<ExitCode> order;
  for (std::string number; std::getline(list, number, ',');) {
    order.push_back(static_cast<ExitCode>(std::stoi(number)));
  }
  ASSERT_EQ(order.size() + 1, all_exit_codes().size());  // all but done
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(most_severe(std::span(order).subspan(i)), order[i]) << "place " << i;
  }
}

}  // namespace
}  // namespace sskj::view
