// `profile import` in its two forms.
#include "profile_verbs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sskj/app/request.hpp"

namespace sskj::app {
namespace {

class Import : public ::testing::Test {
 protected:
  Import() : path_(std::filesystem::temp_directory_path() / ("sskj_import_" + std::to_string(::getpid()) + ".sh")) {
    std::ofstream(path_, std::ios::binary) << "NODES=\"n1 n2\"\nIMAGE=img\nAPI_PORT=30000\nSTAMP=$(date)\n";
    request_.verb = "profile import";
    request_.words = {path_.string()};
  }
  ~Import() override { std::filesystem::remove(path_); }
  ExitCode run() {
    view::Output output{view::string_stream(out_), view::string_stream(err_), false, false, false, 80, 24};
    return profile_import(request_, output);
  }

  std::filesystem::path path_;
  Request request_;
  std::string out_, err_;
};

TEST_F(Import, Text_puts_the_profile_on_stdout_and_what_is_left_on_stderr) {
  EXPECT_EQ(run(), ExitCode::done);
  EXPECT_NE(out_.find("\nPORT=30000\n"), std::string::npos) << out_;
  EXPECT_NE(err_.find(path_.string() + ":4: warning: STAMP=$(date)"), std::string::npos) << err_;
}

TEST_F(Import, Json_is_one_document_with_the_same) {
  EXPECT_EQ(run(), ExitCode::done);
  const std::string text = out_;
  out_.clear();
  err_.clear();
  request_.output = Output::json;
  EXPECT_EQ(run(), ExitCode::done);
  EXPECT_EQ(err_, "");
  const auto document = nlohmann::json::parse(out_, nullptr, false);
  ASSERT_TRUE(document.is_object()) << out_;
  EXPECT_EQ(document["profile"], text);
  EXPECT_EQ(document["file"], path_.string());
  ASSERT_EQ(document["unplaced"].size(), 1U);
  EXPECT_EQ(document["unplaced"][0]["line"], 4);
  EXPECT_EQ(document["unplaced"][0]["text"], "STAMP=$(date)");
  EXPECT_FALSE(document["unplaced"][0]["reason"].get<std::string>().empty());
  bool model = false;
  for (const auto& warning : document["warnings"]) model = model || warning["message"].get<std::string>().find("model") != std::string::npos;
  EXPECT_TRUE(model) << "what the profile lacks is said: " << document["warnings"].dump();
}

}  // namespace
}  // namespace sskj::app
