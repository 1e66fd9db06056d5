#include "identity.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "sskj/net/process.hpp"
#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {
namespace {

/// Keys are made by ssh-keygen when the test runs: none is kept in the tree.
class Keys : public ::testing::Test {
 protected:
  Keys() {
    std::string pattern = std::filesystem::temp_directory_path() / "sskj-keys-XXXXXX";
    directory = ::mkdtemp(pattern.data());
  }
  ~Keys() override { std::filesystem::remove_all(directory); }

  std::string keygen(const std::vector<std::string>& extra) {
    const std::string file = directory + "/key" + std::to_string(count++);
    std::vector<std::string> argv{"ssh-keygen", "-q", "-C", "test", "-f", file};
    argv.insert(argv.end(), extra.begin(), extra.end());
    run(argv);
    return file;
  }
  std::string run(const std::vector<std::string>& argv) {
    net::Loop loop;
    std::string out;
    net::ProcessSpec spec;
    spec.argv = argv;
    const auto handle = net::run_command(loop, spec, net::Millis(30'000), 65536, [&](Result<net::CommandOutput> output) {
      EXPECT_TRUE(output && output->status.code == 0);
      out = output ? output->out : "";
      loop.stop();
    });
    loop.run();
    return out;
  }
  std::string directory;
  int count = 0;
};

TEST_F(Keys, Plain_and_encrypted_keys_are_told_apart_with_their_public_half) {
  for (const std::string type : {"ed25519", "ecdsa", "rsa"}) {
    const auto plain = load_identity(keygen({"-t", type, "-N", ""}));
    EXPECT_EQ(plain.kind, Identity::Kind::private_key) << type;
    EXPECT_NE(run({"ssh-keygen", "-lf", plain.path}).find(fingerprint(plain.blob)), std::string::npos) << "as ssh-keygen prints it";
    const auto locked = load_identity(keygen({"-t", type, "-N", "secret"}));
    EXPECT_EQ(locked.kind, Identity::Kind::encrypted) << type;
    EXPECT_FALSE(locked.blob.empty());
  }
}

TEST_F(Keys, Public_half_comes_from_the_private_file_itself) {
  const std::string file = keygen({"-t", "ed25519", "-N", "secret"});
  const auto with = load_identity(file);
  std::filesystem::remove(file + ".pub");
  EXPECT_EQ(load_identity(file).blob, with.blob);
}

TEST_F(Keys, PEM_keys_take_it_from_the_file_beside) {
  const std::string plain = keygen({"-t", "rsa", "-m", "PEM", "-N", ""});
  EXPECT_EQ(load_identity(plain).kind, Identity::Kind::private_key);
  EXPECT_EQ(key_type(load_identity(plain).blob), "ssh-rsa");
  EXPECT_EQ(load_identity(keygen({"-t", "rsa", "-m", "PEM", "-N", "secret"})).kind, Identity::Kind::encrypted);
  EXPECT_EQ(load_identity(keygen({"-t", "rsa", "-m", "PKCS8", "-N", "secret"})).kind, Identity::Kind::encrypted);
}

TEST_F(Keys, Public_file_alone_is_for_an_agent) {
  const std::string file = keygen({"-t", "ed25519", "-N", ""});
  EXPECT_EQ(load_identity(file + ".pub").kind, Identity::Kind::public_only);
  std::filesystem::remove(file);
  const auto half = load_identity(file);
  EXPECT_EQ(half.kind, Identity::Kind::public_only);
  EXPECT_EQ(key_type(half.blob), "ssh-ed25519");
}

TEST_F(Keys, Missing_and_damaged_files) {
  EXPECT_EQ(load_identity(directory + "/none").kind, Identity::Kind::missing);
  const std::string damaged = directory + "/damaged";
  for (const std::string text : {"", "hello", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", "-----BEGIN OPENSSH PRIVATE KEY-----"}) {
    std::ofstream(damaged) << text;
    EXPECT_EQ(load_identity(damaged).kind, Identity::Kind::unreadable) << text;
  }
}

}  // namespace
}  // namespace sskj::ssh
