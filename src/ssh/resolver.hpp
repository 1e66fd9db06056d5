// Resolver: targets to settings by `ssh -G`, cached, at most eight children at once; one answer for all hosts where the files in force allow it (17-33 ms a host).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sskj/net/loop.hpp"
#include "sskj/ssh/transport.hpp"

namespace sskj::ssh {

class Resolver {
 public:
  using Done = std::function<void(const Result<Settings>&)>;
  Resolver(net::Loop& loop, const Options& options);

  /// `done` is called from the loop.
  void resolve(const plan::SshTarget& target, Done done);
  bool has_ssh() const { return !ssh_.empty(); }
  const std::string& ssh_program() const { return ssh_; }

 private:
  struct Question {
    std::vector<std::pair<plan::SshTarget, Done>> waiting;
    std::unique_ptr<Result<RawSettings>> answer;
    net::Handle child;
  };
  std::string key_of(const plan::SshTarget& target) const;
  void ask(const std::string& key);
  void run_next();
  void answered(const std::string& key, Result<RawSettings> raw);
  void deliver(const plan::SshTarget& target, const Result<RawSettings>& raw, const Done& done) const;
  void later(const plan::SshTarget& target, Result<RawSettings> raw, Done done);

  net::Loop& loop_;
  const Options& options_;
  std::string ssh_;
  ConfigScan scan_;
  std::map<std::string, Question> questions_;
  std::deque<std::string> queue_;
  std::size_t running_ = 0;
  bool warned_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

/// argv of the question, with the target's own user and port so that Match sees them. Empty `target.host` is not asked.
std::vector<std::string> ssh_g_command(const std::string& ssh, const std::string& config_file, const plan::SshTarget& target);

}  // namespace sskj::ssh
