#include "sskj/ssh/known_hosts.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sskj/core/base64.hpp"

namespace sskj::ssh {
namespace {

/// A blob with a type and some payload, as the matcher sees it.
std::string blob(const std::string& type, const std::string& payload) {
  std::string out;
  for (const auto& field : {type, payload}) {
    out += std::string(3, '\0') + static_cast<char>(field.size()) + field;
  }
  return out;
}
std::string line(const std::string& names, const std::string& type, const std::string& payload) { return names + " " + type + " " + base64_encode(blob(type, payload)); }

const std::string k_host_key = blob("ssh-ed25519", "node key");

KnownHosts hosts_of(const std::string& text) {
  KnownHosts hosts;
  parse_known_hosts(text, "known", hosts);
  return hosts;
}

// Names --------------------------------------------------------------------------------------------------------------------------------------------

TEST(NameTest, Has_the_port_in_brackets_unless_it_is_22_and_an_alias_wins) {
  EXPECT_EQ(known_host_name("Node1.Rack", 22), "node1.rack");
  EXPECT_EQ(known_host_name("10.0.0.1", 2222), "[10.0.0.1]:2222");
  EXPECT_EQ(known_host_name("10.0.0.1", 2222, "Rack-7"), "rack-7");
}

struct Pattern {
  const char *patterns, *name;
  bool matches;
};
class Patterns : public ::testing::TestWithParam<Pattern> {};
TEST_P(Patterns, Match_as_OpenSSH_does) { EXPECT_EQ(matches_host(GetParam().patterns, GetParam().name), GetParam().matches) << GetParam().patterns << " " << GetParam().name; }
INSTANTIATE_TEST_SUITE_P(Table, Patterns,
                         ::testing::Values(Pattern{"node1", "node1", true}, Pattern{"node1", "node2", false}, Pattern{"a,node1,b", "node1", true},
                                           Pattern{"NODE1", "node1", true}, Pattern{"10.0.0.*", "10.0.0.7", true}, Pattern{"10.0.0.*", "10.0.1.7", false},
                                           Pattern{"10.0.0.?", "10.0.0.7", true}, Pattern{"10.0.0.?", "10.0.0.77", false}, Pattern{"*", "anything", true},
                                           Pattern{"*,!node1", "node1", false}, Pattern{"!node1,*", "node1", false}, Pattern{"*,!node1", "node2", true},
                                           Pattern{"!node1", "node2", false}, Pattern{"[10.0.0.1]:2222", "[10.0.0.1]:2222", true},
                                           Pattern{"[10.0.0.1]:2222", "10.0.0.1", false}, Pattern{"10.0.0.1", "[10.0.0.1]:2222", false}, Pattern{"", "x", false},
                                           Pattern{"a*b*c", "aXbYbZc", true}, Pattern{"|1|bad", "x", false}, Pattern{"|1|AAAA|AAAA", "x", false}));

// A line that ssh-keygen -H made of `[127.0.0.1]:2200`-like names is held against our hashing in the connection tests.

// Parsing ------------------------------------------------------------------------------------------------------------------------------------------

TEST(ParseTest, Comments_blank_lines_CRLF_tabs_and_trailing_comments_are_fine) {
  const auto hosts = hosts_of("# comment\r\n\r\n\t" + line("node1", "ssh-ed25519", "node key") + " root@node1\r\n" + line("node2\t", "ssh-rsa", "x") + "\n");
  ASSERT_EQ(hosts.entries.size(), 2U);
  EXPECT_TRUE(hosts.problems.empty());
  EXPECT_EQ(hosts.entries[0].at.line, 3U);
  EXPECT_EQ(check_host_key(hosts, "node1", k_host_key).verdict, KeyVerdict::match);
}

TEST(ParseTest, Malformed_lines_are_warnings_and_the_rest_counts) {
  const auto hosts = hosts_of("node1 ssh-ed25519\nnode1 ssh-ed25519 !!!\n@strange node1 ssh-ed25519 AAAA\nnode1 ssh-rsa " + base64_encode(k_host_key) + "\n" +
                              line("node1", "ssh-ed25519", "node key") + "\n");
  ASSERT_EQ(hosts.problems.size(), 4U);
  for (std::size_t i = 0; i < hosts.problems.size(); ++i) {
    EXPECT_EQ(hosts.problems[i].at, (SourceRef{"known", i + 1, 0}));
    EXPECT_EQ(hosts.problems[i].severity, Severity::warning);
  }
  EXPECT_EQ(check_host_key(hosts, "node1", k_host_key).verdict, KeyVerdict::match);
}

// Verdicts -----------------------------------------------------------------------------------------------------------------------------------------

struct Case {
  std::string name, known, asked;
  KeyVerdict verdict;
  std::size_t at_line = 0;
  bool other_type = false;
};
class Verdicts : public ::testing::TestWithParam<Case> {};
TEST_P(Verdicts, Are_right) {
  const auto check = check_host_key(hosts_of(GetParam().known), GetParam().asked, k_host_key);
  EXPECT_EQ(check.verdict, GetParam().verdict);
  EXPECT_EQ(check.other_type, GetParam().other_type);
  EXPECT_EQ(check.entry ? check.entry->at.line : 0, GetParam().at_line);
}
const std::string k_same = line("node1", "ssh-ed25519", "node key"), k_other = line("node1", "ssh-ed25519", "another key"), k_rsa = line("node1", "ssh-rsa", "rsa key");
INSTANTIATE_TEST_SUITE_P(
    Table, Verdicts,
    ::testing::Values(Case{"known", k_same, "node1", KeyVerdict::match, 1}, Case{"unknown_name", k_same, "node2", KeyVerdict::unknown},
                      Case{"nothing_known", "", "node1", KeyVerdict::unknown}, Case{"changed", k_other, "node1", KeyVerdict::changed, 1},
                      Case{"match_beats_changed", k_other + "\n" + k_same, "node1", KeyVerdict::match, 2},
                      Case{"other_type_only", k_rsa, "node1", KeyVerdict::unknown, 1, true}, Case{"other_type_and_same", k_rsa + "\n" + k_same, "node1", KeyVerdict::match, 2},
                      Case{"revoked_beats_match", k_same + "\n@revoked * " + k_same.substr(6), "node1", KeyVerdict::revoked, 2},
                      Case{"revoked_other_key", k_same + "\n@revoked * " + k_other.substr(6), "node1", KeyVerdict::match, 1},
                      Case{"authority_is_no_key", "@cert-authority * " + k_same.substr(6), "node1", KeyVerdict::unknown},
                      Case{"plain_entry_serves_another_port", k_same, "[node1]:2222", KeyVerdict::match, 1},
                      Case{"plain_entry_does_not_contradict_another_port", k_other, "[node1]:2222", KeyVerdict::unknown},
                      Case{"port_entry_contradicts", line("[node1]:2222", "ssh-ed25519", "another key") + "\n" + k_same, "[node1]:2222", KeyVerdict::changed, 1},
                      Case{"revoked_for_the_plain_name", "@revoked " + k_same, "[node1]:2222", KeyVerdict::revoked, 1},
                      Case{"wildcard", line("node*", "ssh-ed25519", "node key"), "node1", KeyVerdict::match, 1}),
    [](const auto& one) { return one.param.name; });

// Preference ---------------------------------------------------------------------------------------------------------------------------------------

TEST(PreferenceTest, Known_types_come_first_and_all_are_named) {
  const std::string all = "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";
  EXPECT_EQ(host_key_preference(hosts_of(""), "node1"), all);
  EXPECT_EQ(host_key_preference(hosts_of(k_same), "node1"), all);
  EXPECT_EQ(host_key_preference(hosts_of(k_rsa), "node1"), "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521");
  EXPECT_EQ(host_key_preference(hosts_of(k_rsa), "[node1]:2222").substr(0, 12), "rsa-sha2-512") << "the plain entry serves other ports";
  EXPECT_EQ(host_key_preference(hosts_of(k_rsa), "node2"), all);
  EXPECT_EQ(host_key_preference(hosts_of("@revoked " + k_rsa), "node1"), all) << "a revoked type is not asked for";
}

// Policy -------------------------------------------------------------------------------------------------------------------------------------------

HostKeyContext context() { return {"node-1", "[10.0.0.1]:2222", "10.0.0.1", 2222, {"/home/me/.ssh/known hosts"}}; }

TEST(PolicyTest, Match_goes_on_under_each) {
  for (const auto policy : {HostKeyPolicy::strict, HostKeyPolicy::accept_new, HostKeyPolicy::pinned}) {
    const auto judged = judge_host_key({KeyVerdict::match, {}, false}, policy, context(), k_host_key);
    ASSERT_TRUE(judged);
    EXPECT_FALSE(*judged) << "nothing to add";
  }
}

TEST(PolicyTest, Only_accept_new_takes_an_unknown_key) {
  EXPECT_TRUE(*judge_host_key({KeyVerdict::unknown, {}, false}, HostKeyPolicy::accept_new, context(), k_host_key));
  for (const auto policy : {HostKeyPolicy::strict, HostKeyPolicy::pinned}) {
    const auto judged = judge_host_key({KeyVerdict::unknown, {}, false}, policy, context(), k_host_key);
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().code, Errc::host_key);
    EXPECT_NE(judged.error().message.find("ED25519 " + fingerprint(k_host_key)), std::string::npos);
    EXPECT_NE(judged.error().hint.find("ssh-keyscan -p 2222 10.0.0.1 >> '/home/me/.ssh/known hosts'"), std::string::npos) << judged.error().hint;
  }
}

TEST(PolicyTest, None_takes_a_changed_or_revoked_key_or_a_second_type) {
  const KnownHost entry{Marker::none, "node1", "ssh-ed25519", blob("ssh-ed25519", "another key"), {"/etc/known", 7, 0}};
  for (const auto policy : {HostKeyPolicy::strict, HostKeyPolicy::accept_new, HostKeyPolicy::pinned}) {
    const auto changed = judge_host_key({KeyVerdict::changed, entry, false}, policy, context(), k_host_key);
    ASSERT_FALSE(changed);
    EXPECT_NE(changed.error().message.find("/etc/known:7"), std::string::npos);
    EXPECT_NE(changed.error().hint.find("ssh-keygen -f /etc/known -R '[10.0.0.1]:2222'"), std::string::npos) << changed.error().hint;
    EXPECT_FALSE(judge_host_key({KeyVerdict::revoked, entry, false}, policy, context(), k_host_key));
    EXPECT_FALSE(judge_host_key({KeyVerdict::unknown, entry, true}, policy, context(), k_host_key));
  }
}

// Appending ----------------------------------------------------------------------------------------------------------------------------------------

class Append : public ::testing::Test {
 protected:
  Append() {
    std::string pattern = std::filesystem::temp_directory_path() / "sskj-known-XXXXXX";
    directory = ::mkdtemp(pattern.data());
    file = directory + "/new/known_hosts";
  }
  ~Append() override { std::filesystem::remove_all(directory); }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }
  std::string directory, file;
};

TEST_F(Append, Makes_file_and_directory_private) {
  ASSERT_TRUE(append_known_host(file, "node1", k_host_key, false));
  EXPECT_EQ(text(), k_same + "\n");
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(Append, Keeps_what_is_there_also_without_a_last_newline) {
  std::filesystem::create_directories(directory + "/new");
  std::ofstream(file) << "# mine\n@revoked x y z";
  ASSERT_TRUE(append_known_host(file, "node1", k_host_key, false));
  EXPECT_EQ(text(), "# mine\n@revoked x y z\n" + k_same + "\n");
}

TEST_F(Append, Hashed_name_is_found_again_and_not_readable) {
  ASSERT_TRUE(append_known_host(file, "[10.0.0.1]:2222", k_host_key, true));
  EXPECT_EQ(text().find("10.0.0.1"), std::string::npos);
  EXPECT_EQ(check_host_key(load_known_hosts({file, directory + "/missing"}), "[10.0.0.1]:2222", k_host_key).verdict, KeyVerdict::match);
}

TEST_F(Append, Failure_names_the_file) {
  const auto failed = append_known_host(directory + "/a/b/c", "node1", k_host_key, false);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::host_key);
  EXPECT_NE(failed.error().message.find(directory + "/a/b/c"), std::string::npos);
}

TEST(BlobTest, Type_and_label) {
  EXPECT_EQ(key_type(k_host_key), "ssh-ed25519");
  EXPECT_EQ(key_type(""), "");
  EXPECT_EQ(key_type(std::string("\xff\xff\xff\xff", 4)), "");
  EXPECT_EQ(key_type_label("ecdsa-sha2-nistp384"), "ECDSA");
}

}  // namespace
}  // namespace sskj::ssh
