#include "resolver.hpp"

#include "sskj/core/text.hpp"
#include "sskj/net/process.hpp"

namespace sskj::ssh {

namespace {

constexpr std::size_t k_children = 8;
constexpr std::size_t k_max_output = 256U << 10;
constexpr char k_common[] = "";  // key of the question whose answer holds for every host without a section of its own

std::string first_line(const std::string& said) {
  const auto lines = text::split_lines(text::trim(said));
  return lines.empty() ? "" : text::printable(lines.front());
}

}  // namespace

std::vector<std::string> ssh_g_command(const std::string& ssh, const std::string& config_file, const plan::SshTarget& target) {
  std::vector<std::string> argv{ssh, "-G", "-T"};
  if (!config_file.empty()) {
    argv.insert(argv.end(), {"-F", config_file});
  }
  if (!target.user.empty()) {
    argv.insert(argv.end(), {"-l", target.user});
  }
  if (target.port != 0) {
    argv.insert(argv.end(), {"-p", std::to_string(target.port)});
  }
  argv.insert(argv.end(), {"--", target.host});
  return argv;
}

Resolver::Resolver(net::Loop& loop, const Options& options) : loop_(loop), options_(options), ssh_(net::find_program("ssh", options.environment.path)) {
  if (options_.use_ssh_config && !ssh_.empty()) {
    scan_ = scan_config_files(options_.config_file, options_.environment);
  }
}

std::string Resolver::key_of(const plan::SshTarget& target) const {
  if (scan_.uniform && !has_own_section(scan_, target.host)) {
    return k_common;
  }
  return target.host + "\n" + target.user + "\n" + std::to_string(target.port);
}

void Resolver::later(const plan::SshTarget& target, Result<RawSettings> raw, Done done) {
  loop_.post([this, alive = std::weak_ptr(alive_), target, raw = std::move(raw), done = std::move(done)] {
    if (!alive.expired()) {
      deliver(target, raw, done);
    }
  });
}

void Resolver::deliver(const plan::SshTarget& target, const Result<RawSettings>& raw, const Done& done) const {
  done(raw ? make_settings(*raw, target, options_.environment) : tl::unexpected<Error>(raw.error()));
}

void Resolver::resolve(const plan::SshTarget& target, Done done) {
  if (target.host.empty() || target.host[0] == '-') {
    later(target, fail(Errc::usage, "`" + text::printable(target.host) + "` is no host name", "a host does not begin with `-`"), std::move(done));
    return;
  }
  if (!options_.use_ssh_config || ssh_.empty()) {
    if (options_.use_ssh_config && !warned_ && options_.warn) {
      options_.warn("there is no ssh program here: ssh_config is not read, only the profile's own fields count");
    }
    warned_ = true;
    later(target, RawSettings{}, std::move(done));
    return;
  }
  const std::string key = key_of(target);
  auto& question = questions_[key];
  if (question.answer) {
    later(target, *question.answer, std::move(done));
    return;
  }
  question.waiting.emplace_back(target, std::move(done));
  if (question.waiting.size() == 1) {
    queue_.push_back(key);
    run_next();
  }
}

void Resolver::run_next() {
  while (running_ < k_children && !queue_.empty()) {
    const std::string key = queue_.front();
    queue_.pop_front();
    ++running_;
    ask(key);
  }
}

void Resolver::ask(const std::string& key) {
  auto& question = questions_[key];
  plan::SshTarget target = question.waiting.front().first;
  if (key == k_common) {
    target.user.clear();
    target.port = 0;
  }
  net::ProcessSpec spec;
  spec.argv = ssh_g_command(ssh_, options_.config_file, target);
  spec.env = options_.environment.variables;
  question.child = net::run_command(loop_, spec, options_.timeouts.resolve, k_max_output, [this, key, target](Result<net::CommandOutput> output) {
    if (!output) {
      answered(key, tl::unexpected<Error>(output.error()));
    } else if (output->status.code != 0 || output->status.signal != 0) {
      answered(key, fail(Errc::usage, "ssh_config cannot be used for " + target.host + ": " + first_line(output->err),
                         "correct the file, or name another with --ssh-config"));
    } else {
      auto raw = parse_ssh_g(output->out);
      if (key == k_common) {
        raw.erase("hostname");  // the asker's own name: each host keeps its own
        raw.erase("host");
      }
      answered(key, std::move(raw));
    }
  });
}

void Resolver::answered(const std::string& key, Result<RawSettings> raw) {
  --running_;
  auto& question = questions_[key];
  question.answer = std::make_unique<Result<RawSettings>>(std::move(raw));
  const std::weak_ptr<int> alive = alive_;
  for (auto& [target, done] : std::exchange(question.waiting, {})) {
    deliver(target, *question.answer, done);
    if (alive.expired()) {
      return;
    }
  }
  run_next();
}

}  // namespace sskj::ssh
