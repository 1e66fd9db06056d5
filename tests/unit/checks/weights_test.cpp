// The weights probe on real directories.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sskj/checks/check.hpp"
#include "sskj/core/text.hpp"
#include "support/shell.hpp"

namespace sskj::checks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::write_file;

std::string shard(std::size_t tensors, std::size_t bytes_each, const std::string& padding = "") {
  json header{{"__metadata__", {{"format", "pt"}}}};
  for (std::size_t i = 0; i < tensors; ++i) {
    header["layer." + std::to_string(i) + ".weight"] = {{"dtype", "BF16"}, {"shape", {bytes_each / 2}}, {"data_offsets", {i * bytes_each, (i + 1) * bytes_each}}};
  }
  const auto text = header.dump() + padding;
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((text.size() >> (8 * i)) & 0xffU);
  return file + text + std::string(tensors * bytes_each, 'w');
}

std::string name_of(std::size_t i) { return "model-0000" + std::to_string(i) + "-of-000003.safetensors"; }

class Weights : public ::testing::Test {
 protected:
  Weights() {
    json map = json::object();
    for (std::size_t i = 1; i <= 3; ++i) {
      write_file(dir() / name_of(i), shard(5, 64, i == 2 ? "   " : ""));
      for (std::size_t t = 0; t < 5; ++t) map["m." + std::to_string(i) + "." + std::to_string(t)] = name_of(i);
    }
    index_ = {{"metadata", {{"total_size", 3 * 5 * 64}}}, {"weight_map", map}};
    write_index();
    write_file(dir() / "config.json", "{\"architectures\":[\"X\"]}");
  }
  fs::path dir() const { return temp_.path() / "Kimi K3's"; }
  void write_index(int indent = 2) { write_file(dir() / "model.safetensors.index.json", index_.dump(indent)); }

  std::vector<run::Finding> judge(bool total = true, const std::string& environment = "") {
    const auto* check = find("weights");
    const Selected selected{check, {{{"models", dir().string()}}, "{}"}};
    const auto ran = testing::run_script(make_script({&selected, 1}), environment);
    const auto records = split_records(ran.out);
    EXPECT_EQ(records.size(), 1U) << ran.out;
    if (records.empty()) return {};
    output_ = records.front().second;
    return check->judge(json{{"models", {dir().string()}}, {"total", total}}, output_);
  }
  std::string said(const std::vector<run::Finding>& findings) {
    std::string text;
    for (const auto& one : findings) text += std::string(run::to_string(one.status)) + ": " + one.message + ": " + one.got + "\n";
    return text;
  }
  std::string said() { return said(judge()); }

  testing::TempDir temp_;
  json index_;
  Output output_;
};

TEST_F(Weights, Whole_shards_are_ok) { EXPECT_EQ(said().substr(0, 3), "ok:") << said() << output_.text; }

TEST_F(Weights, An_index_on_one_line_is_read_too) {
  write_index(-1);
  EXPECT_EQ(said().substr(0, 3), "ok:") << said();
}

TEST_F(Weights, A_missing_shard_is_named) {
  fs::remove(dir() / name_of(2));
  const auto text = said();
  EXPECT_NE(text.find("fail: shards named in the index are missing: " + name_of(2)), std::string::npos) << text;
}

TEST_F(Weights, A_shard_short_by_one_byte_is_named) {
  fs::resize_file(dir() / name_of(3), fs::file_size(dir() / name_of(3)) - 1);
  const auto text = said();
  EXPECT_NE(text.find("fail: shards are truncated: " + name_of(3)), std::string::npos) << text;
  EXPECT_EQ(text.find(name_of(1)), std::string::npos) << text;
}

TEST_F(Weights, A_shard_longer_by_one_byte_is_named) {
  fs::resize_file(dir() / name_of(1), fs::file_size(dir() / name_of(1)) + 1);
  EXPECT_NE(said().find("fail: shards are longer than their header says: " + name_of(1)), std::string::npos) << said();
}

TEST_F(Weights, Cut_within_the_header_and_empty_files_are_truncated) {
  for (const std::uintmax_t size : {40U, 8U, 5U, 0U}) {
    fs::resize_file(dir() / name_of(1), size);
    EXPECT_NE(said().find("fail: shards are truncated: " + name_of(1)), std::string::npos) << size << said();
  }
}

TEST_F(Weights, Git_lfs_pointers_and_damaged_headers_are_named) {
  for (const std::string& text : {std::string("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"), std::string("\x10\0\0\0\0\0\0\0not JSON at all.", 24),
                                  std::string("\x02\0\0\0\0\0\0\0{}", 10)}) {
    write_file(dir() / name_of(2), text);
    EXPECT_NE(said().find("fail: shards have a broken safetensors header: " + name_of(2)), std::string::npos) << said();
  }
}

TEST_F(Weights, A_header_without_its_last_brace_is_named) {
  auto file = shard(5, 64);
  file[8 + static_cast<std::size_t>(static_cast<unsigned char>(file[0])) + 256 * static_cast<std::size_t>(static_cast<unsigned char>(file[1])) - 1] = ' ';
  write_file(dir() / name_of(2), file);
  EXPECT_NE(said().find("fail: shards have a broken safetensors header: " + name_of(2)), std::string::npos) << said();
}

TEST_F(Weights, One_that_cannot_be_read_is_unknown_and_hides_no_other) {
  fs::remove(dir() / name_of(1));
  fs::create_directory(dir() / name_of(1));
  fs::resize_file(dir() / name_of(3), fs::file_size(dir() / name_of(3)) - 1);
  const auto text = said();
  EXPECT_NE(text.find("unknown: weights cannot be read: " + name_of(1)), std::string::npos) << text;
  EXPECT_NE(text.find("fail: shards are truncated: " + name_of(3)), std::string::npos) << text;
}

TEST_F(Weights, A_disk_that_fails_in_a_header_is_unknown_not_a_broken_header) {
  const testing::TempDir tools;
  const auto dd = tools.path() / "dd";  // no disk here fails on demand
  write_file(dd, "#!/bin/sh\nprintf '{\"a\":{\"dtype\":'\nexit 1\n");
  fs::permissions(dd, fs::perms::owner_all);
  const auto text = said(judge(true, "PATH=" + tools.path().string() + ":/usr/bin:/bin"));
  EXPECT_EQ(text.substr(0, 8), "unknown:") << text;
  EXPECT_NE(text.find("weights cannot be read: " + name_of(1)), std::string::npos) << text;
  EXPECT_EQ(text.find("broken"), std::string::npos) << text;
}

TEST_F(Weights, A_sum_other_than_total_size_is_an_integrity_failure_that_can_be_skipped) {
  index_["metadata"]["total_size"] = 961;
  write_index();
  const auto findings = judge();
  ASSERT_EQ(findings.size(), 1U) << said(findings);
  EXPECT_EQ(findings[0].check, "weights-total");
  EXPECT_EQ(findings[0].failure, Errc::integrity);
  EXPECT_EQ(said(judge(false)).substr(0, 3), "ok:");
}

TEST_F(Weights, No_total_size_is_not_a_failure) {
  index_["metadata"] = json::object();
  write_index();
  EXPECT_EQ(said().substr(0, 3), "ok:") << said();
}

TEST_F(Weights, A_shard_that_the_index_does_not_name_is_a_warning) {
  write_file(dir() / "model-00097-of-000096.safetensors", shard(1, 64));
  EXPECT_EQ(said().substr(0, 5), "warn:") << said();
}

TEST_F(Weights, Names_that_leave_the_directory_are_refused) {
  index_["weight_map"]["m.evil"] = "../../etc/passwd.safetensors";
  write_index();
  EXPECT_NE(said().find("fail: the weights index names a file outside"), std::string::npos) << said();
}

TEST_F(Weights, No_index_and_an_empty_one_are_failures) {
  index_["weight_map"] = json::object();
  write_index();
  EXPECT_NE(said().find("fail: the weights index names no shard"), std::string::npos) << said();
  fs::remove(dir() / "model.safetensors.index.json");
  EXPECT_NE(said().find("fail: the model directory holds no"), std::string::npos) << said();
}

TEST_F(Weights, A_single_file_model_needs_no_index) {
  fs::remove(dir() / "model.safetensors.index.json");
  for (std::size_t i = 1; i <= 3; ++i) fs::remove(dir() / name_of(i));
  write_file(dir() / "model.safetensors", shard(2, 64));
  EXPECT_EQ(said().substr(0, 3), "ok:") << said();
}

TEST_F(Weights, A_missing_directory_and_a_missing_config_are_failures) {
  fs::remove(dir() / "config.json");
  EXPECT_NE(said().find("fail: config.json is missing"), std::string::npos) << said();
  fs::remove_all(dir());
  EXPECT_NE(said().find("fail: the model directory does not exist"), std::string::npos) << said();
}

TEST_F(Weights, A_header_of_megabytes_is_read) {
  write_file(dir() / name_of(1), shard(20'000, 4));
  index_["metadata"]["total_size"] = 20'000 * 4 + 2 * 5 * 64;
  write_index();
  EXPECT_EQ(said().substr(0, 3), "ok:") << said();
}

}  // namespace
}  // namespace sskj::checks
