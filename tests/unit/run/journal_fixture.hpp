// A run of three small steps with a journal in a directory of its own.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sskj/core/text.hpp"
#include "sskj/run/event_json.hpp"
#include "sskj/run/journal.hpp"
#include "sskj/run/record.hpp"
#include "sskj/run/tee.hpp"
#include "unit/run/fixture.hpp"

namespace sskj::test {

namespace fs = std::filesystem;
using nlohmann::json;

inline std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class JournalTest : public RunTest {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sskj-journal-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    nodes({"n1", "n/2"});
    stage("s", {script("a", "n1"), check("b", "n/2")});
    stage("t", {follow("log", "n1")});
    fake_.on_script("n1", "a", {reply().out("raw \xff\x1b[0m\nsskj: changed\n").err("warned\n")});
    fake_.on_script("n/2", "b", {reply().out("ok")});
    fake_.on_script("n1", "log", {reply().out("line 1\n").out("line 2\n", 1s).after(2s)});
  }
  void TearDown() override { fs::remove_all(root_); }

  run::JournalOptions options(std::string run = "20260101-000000-abcd") {
    run::JournalOptions options;
    options.state_directory = (root_ / "state" / "sskj").string();
    options.run = std::move(run);
    options.now = [] { return std::string("2026-01-01T00:00:00.000Z"); };
    options.on_error = [this](const Error& error) { errors_.push_back(error); };
    return options;
  }
  std::unique_ptr<run::Journal> open(run::JournalOptions with) {
    auto journal = run::Journal::open(plan_, std::move(with));
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }
  void run_with(run::Journal& journal) {
    run::TeeSink tee({&log_, &journal});
    run::Executor executor(plan_, fake_, tee, drivers_, limits_, {"run-1", plan::digest(plan_), "2026-01-01T00:00:00Z"});
    executor.start([this](ExitCode code) { code_ = code; });
    fake_.run_until_idle();
  }
  [[nodiscard]] std::string runs() const { return (root_ / "state" / "sskj" / "runs").string(); }
  [[nodiscard]] fs::path at(const char* name) const { return fs::path(runs()) / "20260101-000000-abcd" / name; }
  static std::vector<json> events_of(const std::string& text) {
    std::vector<json> events;
    for (const auto& line : text::split_lines(text)) events.push_back(json::parse(line));
    return events;
  }

  fs::path root_;
  std::vector<Error> errors_;
};

}  // namespace sskj::test
