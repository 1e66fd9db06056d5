// Secrets by reference: what is read, what is refused, and that no message holds a value.
#include "environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sskj::app {
namespace {

namespace fs = std::filesystem;

class SecretFile {
 public:
  explicit SecretFile(std::string_view content) : path_(fs::temp_directory_path() / ("sskj_secret_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~SecretFile() { fs::remove(path_); }
  SecretFile(const SecretFile&) = delete;
  SecretFile& operator=(const SecretFile&) = delete;
  plan::SecretRef ref() const { return {"from_file:" + path_.string()}; }

 private:
  fs::path path_;
};

TEST(ResolveSecret, Reads_a_file_without_its_last_newline) {
  EXPECT_EQ(resolve_secret(SecretFile("sk-abc.DEF_1\n").ref()).value(), "sk-abc.DEF_1");
}

TEST(ResolveSecret, Refuses_a_value_that_could_not_be_carried_and_names_the_reference_only) {
  for (const std::string value : {"has blank", "it's", "say \"x\"", "back\\slash", "-leading", "caf\xC3\xA9", "two\nlines", "carriage\r\n", "tab\t"}) {
    const SecretFile file(value);
    const auto secret = resolve_secret(file.ref());
    ASSERT_FALSE(secret) << value;
    EXPECT_EQ(secret.error().code, Errc::usage);
    EXPECT_NE(secret.error().message.find(file.ref().ref), std::string::npos) << secret.error().message;
    EXPECT_FALSE(secret.error().hint.empty());
    EXPECT_EQ((secret.error().message + secret.error().hint).find(value), std::string::npos) << "the value was repeated";
  }
  EXPECT_FALSE(resolve_secret(SecretFile(std::string(513, 'x')).ref()));
  EXPECT_FALSE(resolve_secret(SecretFile("\n").ref()));
}

TEST(ResolveSecret, Says_which_variable_is_not_set) {
  const auto secret = resolve_secret({"from_env:SSKJ_TEST_NO_SUCH_VARIABLE"});
  ASSERT_FALSE(secret);
  EXPECT_NE(secret.error().message.find("SSKJ_TEST_NO_SUCH_VARIABLE"), std::string::npos);
}

}  // namespace
}  // namespace sskj::app
