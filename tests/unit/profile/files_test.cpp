// Every profile in tests/data/profiles/{ok,bad} against the .expect file beside it. SSKJ_ACCEPT=1 rewrites them and reports SKIPPED: read the diff before committing it.
//
// ok:  lines "path = value" (values with \n escaped), every setting that is not a default, and the words of launch_args and mounts as typed.
// bad: lines "line:column id | message | hint", all diagnostics in order.
// First comment lines "# variant: NAME" and "# set: KEY=VALUE" act like --variant and --set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "sskj/core/text.hpp"
#include "sskj/profile/profile.hpp"

namespace sskj::profile {
namespace {

namespace fs = std::filesystem;

const std::string k_data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/profiles/";

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail(Errc::profile, "cannot read " + path);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> profiles(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(k_data + directory)) {
    if (entry.path().extension() != ".expect") {
      names.push_back(directory + "/" + entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string strip_root(std::string text) {
  for (std::size_t at = text.find(k_data); at != std::string::npos; at = text.find(k_data)) {
    text.erase(at, k_data.size());
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return out;
}

Parsed parse_data(const std::string& name) {
  const std::string text = read_file(k_data + name).value();
  ParseOptions options;
  options.file = k_data + name;
  options.read = read_file;
  for (const std::string& line : text::split_lines(text)) {
    if (line.rfind("# variant: ", 0) == 0) {
      options.variants.push_back(line.substr(11));
    } else if (line.rfind("# set: ", 0) == 0) {
      const std::size_t equals = line.find('=');
      options.overrides.push_back({line.substr(7, equals - 7), line.substr(equals + 1), {"--set", 0, 0}, Origin::flag});
    }
  }
  return parse(text, options);
}

std::string typed(const Profile& profile) {
  std::string out = "name = " + profile.name + "\n";
  for (const Setting& setting : profile.settings) {
    if (setting.origin != Origin::built_in_default) {
      out += setting.path + " = " + escaped(setting.value) + (setting.origin == Origin::flag ? "   (flag)" : "") + "\n";
    }
  }
  for (const GroupSetting& group : profile.groups) {
    for (std::size_t i = 0; i < group.launch_args.size(); ++i) {
      out += group.name + ".arg[" + std::to_string(i) + "] = " + escaped(group.launch_args[i]) + "\n";
    }
    for (const MountSetting& mount : group.mounts) {
      out += group.name + ".mount " + mount.source + " -> " + mount.target + (mount.read_only ? " ro" : "") + (mount.create ? " create" : "") + "\n";
    }
  }
  return out;
}

std::string listed(const Diagnostics& diagnostics, const std::string& own) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    const std::string file = d.at.file == own ? std::string() : strip_root(d.at.file) + ":";
    out += file + std::to_string(d.at.line) + ":" + std::to_string(d.at.column) + " " + d.id + " | " + strip_root(d.message) + " | " + strip_root(d.hint) + "\n";
  }
  return out;
}

void expect(const std::string& name, const std::string& text) {
  const std::string path = k_data + name + ".expect";
  if (const char* accept = std::getenv("SSKJ_ACCEPT"); accept != nullptr && std::string(accept) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    GTEST_SKIP() << "rewrote " << path;
  }
  EXPECT_EQ(read_file(path).value_or("(no .expect file)"), text) << name;
}

class Ok : public ::testing::TestWithParam<std::string> {};
class Bad : public ::testing::TestWithParam<std::string> {};

TEST_P(Ok, Parses_to_the_expected_settings) {
  const Parsed parsed = parse_data(GetParam());
  EXPECT_TRUE(parsed.diagnostics.empty()) << listed(parsed.diagnostics, k_data + GetParam());
  expect(GetParam(), typed(parsed.profile));
}

TEST_P(Bad, Reports_every_fault_with_its_position) {
  const Parsed parsed = parse_data(GetParam());
  EXPECT_TRUE(has_errors(parsed.diagnostics));
  const std::string text = listed(parsed.diagnostics, k_data + GetParam());
  EXPECT_EQ(text.find("1234567890"), std::string::npos) << "a secret was echoed";
  expect(GetParam(), text);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Ok, ::testing::ValuesIn(profiles("ok")), test_name);
INSTANTIATE_TEST_SUITE_P(Files, Bad, ::testing::ValuesIn(profiles("bad")), test_name);

TEST(Files, Every_expectation_has_its_profile) {
  for (const char* directory : {"ok", "bad"}) {
    for (const auto& entry : fs::directory_iterator(k_data + directory)) {
      if (entry.path().extension() == ".expect") {
        EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension())) << entry.path();
      }
    }
  }
}

}  // namespace
}  // namespace sskj::profile
