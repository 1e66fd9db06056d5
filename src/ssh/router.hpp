// Router: run::Transport. It decides the way to each node, keeps the calls with their deadlines, and speaks HTTP over whatever stream a backend opens.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process_backend.hpp"
#include "sskj/net/http.hpp"
#include "ssh2_backend.hpp"

namespace sskj::ssh {

/// Which way `automatic` takes, and why. Pure.
struct WayChoice {
  Way way = Way::ssh2;
  std::string why;
};
WayChoice choose_way(const Options& options, const Settings& settings, const std::vector<std::string>& own_addresses);

class Router : public run::Transport {
 public:
  Router(net::Loop& loop, Options options);
  ~Router() override;

  run::CallId exec(const run::ExecRequest& request, run::ExecHandlers handlers) override;
  run::CallId http(const run::HttpRequest& request, std::function<void(run::HttpOutcome)> done) override;
  run::CallId after(run::Millis delay, std::function<void()> fire) override;
  void cancel(run::CallId call) override;
  run::Millis now() const override { return loop_.now(); }

 private:
  struct ExecCall {
    run::ExecRequest request;
    run::ExecHandlers handlers;
    std::unique_ptr<RunningExec> running;   ///< none while the way is being decided
    net::TimerId deadline = 0;
  };
  struct HttpCall {
    run::HttpRequest request;
    std::function<void(run::HttpOutcome)> done;
    std::unique_ptr<Stream> stream;
    net::Handle exchange;
    net::TimerId deadline = 0;
    run::Millis begun{0};
  };

  using Chosen = std::function<void(Result<Backend*>)>;
  void with_backend(const plan::SshTarget& target, Chosen chosen);
  Backend& backend(Way way);
  void start_exec(run::CallId id, Result<Backend*> backend);
  void stop_exec(run::CallId id, Stop reason);
  void end_exec(run::CallId id, run::Outcome outcome);
  void start_http(run::CallId id, Result<Backend*> backend);
  void opened(run::CallId id, tl::expected<net::Fd, run::HttpOutcome> stream);
  void answered(run::CallId id, tl::expected<net::HttpAnswer, net::HttpFailure> answer);
  void end_http(run::CallId id, run::HttpOutcome outcome);
  std::string direct_host(const run::HttpRequest& request) const;

  net::Loop& loop_;
  Options options_;
  std::vector<std::string> own_addresses_;
  Ssh2Backend ssh2_;
  LocalBackend local_;
  OpensshBackend openssh_;
  std::map<run::CallId, ExecCall> execs_;
  std::map<run::CallId, HttpCall> https_;
  std::map<run::CallId, net::TimerId> timers_;
  run::CallId last_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace sskj::ssh
