// The script of a PutFile, run by the real shells it meets on nodes.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sample_plan.hpp"
#include "sskj/core/shell.hpp"

namespace sskj::plan {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int status = -1;
  std::string out, err;
};

std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void spill(const fs::path& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class PutScript : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sskj-put-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    if (std::system((std::string("command -v ") + GetParam() + " >/dev/null 2>&1").c_str()) != 0) GTEST_SKIP() << "no " << GetParam() << " here";
  }
  void TearDown() override { fs::remove_all(root_); }

  Ran run(const PutFile& put, std::string_view input) {
    spill(root_ / "script", put_script(put));
    spill(root_ / "input", input);
    const auto file = [this](const char* name) { return shell::quote((root_ / name).string()); };
    const std::string command = std::string(GetParam()) + " -c \"$(cat " + file("script") + ")\" <" + file("input") + " >" + file("out") + " 2>" + file("err");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), slurp(root_ / "out"), slurp(root_ / "err")};
  }

  static PutFile put(const fs::path& path, std::string content, std::uint32_t mode = 0644) {
    return std::get<PutFile>(put_step("a", "n", path.string(), std::move(content), mode).action);
  }
  static unsigned mode_of(const fs::path& path) { return static_cast<unsigned>(fs::status(path).permissions()); }
  static std::size_t entries(const fs::path& directory) { return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {})); }

  fs::path root_;
};

TEST_P(PutScript, Writes_content_and_mode_and_says_changed_then_unchanged) {
  const fs::path target = root_ / "new dir" / "it's $HOME`x`.py";
  const std::string content("binary \0\xff\n\n", 11);
  const PutFile file = put(target, content, 0750);
  EXPECT_EQ(run(file, content).out, "sskj: changed\n");
  EXPECT_EQ(slurp(target), content);
  EXPECT_EQ(mode_of(target), 0750U);
  const auto before = fs::last_write_time(target);
  EXPECT_EQ(run(file, content).out, "sskj: unchanged\n");
  EXPECT_EQ(fs::last_write_time(target), before);
  EXPECT_EQ(entries(target.parent_path()), 1U);
}

TEST_P(PutScript, Other_content_or_other_mode_is_replaced) {
  const fs::path target = root_ / "f";
  spill(target, "old");
  EXPECT_EQ(run(put(target, "new"), "new").out, "sskj: changed\n");
  EXPECT_EQ(slurp(target), "new");
  EXPECT_EQ(run(put(target, "new", 0600), "new").out, "sskj: changed\n");
  EXPECT_EQ(mode_of(target), 0600U);
}

TEST_P(PutScript, Truncated_input_never_replaces_the_file) {
  const fs::path target = root_ / "d" / "f";
  fs::create_directory(root_ / "d");
  spill(target, "old");
  const Ran ran = run(put(target, "the whole content"), "the whole");
  EXPECT_EQ(ran.status, 65);
  EXPECT_EQ(exit_errc(ran.status), Errc::integrity);
  EXPECT_EQ(slurp(target), "old");
  EXPECT_EQ(entries(root_ / "d"), 1U) << "the temporary file must be gone";
}

TEST_P(PutScript, What_a_killed_run_left_behind_is_removed) {
  fs::create_directory(root_ / "d");
  spill(root_ / "d" / ".f.sskj-put.Ab12Cd", "half");
  EXPECT_EQ(run(put(root_ / "d" / "f", "x"), "x").out, "sskj: changed\n");
  EXPECT_EQ(entries(root_ / "d"), 1U);
}

TEST_P(PutScript, Symbolic_link_is_replaced_not_followed) {
  spill(root_ / "victim", "x");
  fs::create_symlink(root_ / "victim", root_ / "f");
  EXPECT_EQ(run(put(root_ / "f", "x"), "x").out, "sskj: changed\n");
  EXPECT_FALSE(fs::is_symlink(root_ / "f"));
}

TEST_P(PutScript, Directory_in_the_way_is_a_failure_with_its_name) {
  fs::create_directory(root_ / "f");
  const Ran ran = run(put(root_ / "f", "x"), "x");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, testing::HasSubstr("f is a directory"));
}

TEST_P(PutScript, Secret_is_checked_by_the_sha256_in_the_input_and_is_not_in_the_script) {
  const fs::path target = root_ / "key.env";
  const PutFile file = std::get<PutFile>(secret_step("a", "n", target.string()).action);
  const std::string content = "KEY=hunter2\n";
  EXPECT_EQ(put_script(file).find(sha256_hex(content)), std::string::npos);
  EXPECT_EQ(run(file, put_input(file, content)).out, "sskj: changed\n");
  EXPECT_EQ(slurp(target), content);
  EXPECT_EQ(mode_of(target), 0600U);
  EXPECT_EQ(run(file, put_input(file, content)).out, "sskj: unchanged\n");
  fs::remove(target);
  EXPECT_EQ(run(file, put_input(file, content).substr(0, 70)).status, 65);
  EXPECT_FALSE(fs::exists(target));
}

INSTANTIATE_TEST_SUITE_P(Shells, PutScript, testing::Values("dash", "bash", "busybox sh"), [](const auto& at) { return std::string(at.param).substr(0, 4); });

}  // namespace
}  // namespace sskj::plan
