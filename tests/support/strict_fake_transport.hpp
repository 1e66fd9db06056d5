// StrictFakeTransport: a Transport without a network that owns time and refuses what no rule expects.
//
//   StrictFakeTransport fake;
//   fake.on_script("n1", "docker run", {reply().out("sskj: changed\n").after(2s)});
//   fake.on_http("n1", 30000, "/health", {refused(), answer(503), answer(200)});
//   executor.start(...); fake.run_until_idle();
//   EXPECT_EQ(fake.sent_to("n1")[0].script, ...);
//
// Rules are tried in the order they were made; a rule's last reply is repeated. An exec or request that no rule matches fails the test. Calls return at once,
// handlers come from advance() or run_until_idle() only, as from a loop. Deadlines and cancel behave as transport.hpp says, unless a reply ignores them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sskj/run/transport.hpp"

namespace sskj::test {

using run::Millis;

/// What an exec received, byte for byte.
struct SentExec {
  std::string node, script, input;
  run::RunVars vars;
  Millis deadline{0};
  Millis at{0};       ///< fake time of the call
  run::CallId id = 0;
};

struct SentHttp {
  run::HttpRequest request;  ///< node pointer included
  std::string node;
  Millis at{0};
};

/// How the node behaves for one exec.
struct Reply {
  struct Chunk {
    Millis at{0};                     ///< after the call
    run::Stream stream = run::Stream::out;
    std::string bytes;
  };
  std::vector<Chunk> chunks;
  Millis ends_after{0};
  bool ends = true;                   ///< false: runs until its deadline or a cancel (a followed log)
  run::Outcome outcome = run::Exited{0};
  bool ignores_deadline = false;      ///< a transport at fault
  bool ignores_cancel = false;

  Reply out(std::string bytes, Millis at = Millis{0}) && { return chunk({at, run::Stream::out, std::move(bytes)}); }
  Reply err(std::string bytes, Millis at = Millis{0}) && { return chunk({at, run::Stream::err, std::move(bytes)}); }
  Reply after(Millis delay) && {
    ends_after = delay;
    return std::move(*this);
  }
  Reply status(int status) && {
    outcome = run::Exited{status};
    return std::move(*this);
  }
  Reply forever() && {
    ends = false;
    return std::move(*this);
  }

 private:
  Reply chunk(Chunk chunk) {
    chunks.push_back(std::move(chunk));
    return std::move(*this);
  }
};

inline Reply reply() { return {}; }
Reply lost(std::string message = "connection lost");
Reply not_run(Errc code = Errc::unreachable, std::string message = "no route");

struct HttpReply {
  run::HttpOutcome outcome = run::HttpResponse{200, "", false, Millis{0}};
  Millis after{0};
  bool ends = true;  ///< false: silent until the request's timeout
};
HttpReply answer(int status, std::string body = "", Millis after = Millis{0});
HttpReply refused();
HttpReply silent();
HttpReply http_not_run(Errc code = Errc::unreachable);
HttpReply http_lost();

class StrictFakeTransport final : public run::Transport {
 public:
  using Matches = std::function<bool(const SentExec&)>;

  void on_exec(Matches matches, std::vector<Reply> replies);
  /// By node ("" = any) and a part of the script ("" = any).
  void on_script(std::string node, std::string part, std::vector<Reply> replies);
  void on_http(std::string node, std::uint16_t port, std::string target, std::vector<HttpReply> replies);
  /// Every exec that no rule before expects ends with 0, every request with 200.
  void accept_everything();
  /// Unmatched calls are collected instead of failing the test (for tests of the fake).
  void collect_unmatched() { strict_ = false; }

  /// Runs what is due within `span`; time ends up `span` later.
  void advance(Millis span);
  /// Runs until nothing is due any more or `limit` of fake time passed.
  void run_until_idle(Millis limit = std::chrono::hours(48));

  [[nodiscard]] const std::vector<SentExec>& sent() const { return sent_; }
  [[nodiscard]] std::vector<SentExec> sent_to(std::string_view node) const;
  [[nodiscard]] const std::vector<SentHttp>& requests() const { return requests_; }
  [[nodiscard]] const std::vector<std::string>& unmatched() const { return unmatched_; }
  [[nodiscard]] std::size_t running() const;           ///< execs and requests in flight
  [[nodiscard]] std::size_t most_nodes_at_once() const { return most_nodes_; }
  [[nodiscard]] std::size_t most_calls_on_one_node() const { return most_calls_; }

  run::CallId exec(const run::ExecRequest& request, run::ExecHandlers handlers) override;
  run::CallId http(const run::HttpRequest& request, std::function<void(run::HttpOutcome)> done) override;
  run::CallId after(Millis delay, std::function<void()> fire) override;
  void cancel(run::CallId call) override;
  [[nodiscard]] Millis now() const override { return now_; }

 private:
  struct ExecRule {
    Matches matches;
    std::vector<Reply> replies;
    std::size_t next = 0;
  };
  struct HttpRule {
    std::string node, target;
    std::uint16_t port = 0;
    std::vector<HttpReply> replies;
    std::size_t next = 0;
  };
  struct Call {
    std::string node;  // empty: a timer
    run::ExecHandlers exec;
    std::function<void(run::HttpOutcome)> http;
    bool ignores_cancel = false;
  };

  void at(Millis when, run::CallId call, std::function<void()> what);
  bool run_next(Millis until);
  void end_exec(run::CallId id, const run::Outcome& outcome);
  void end_http(run::CallId id, run::HttpOutcome outcome);
  void count_nodes();
  void no_rule(std::string what);
  std::optional<Reply> reply_for(const SentExec& exec);

  Millis now_{0};
  run::CallId last_id_ = 0;
  std::uint64_t last_seq_ = 0;
  struct Due {
    run::CallId call;
    std::function<void()> what;
  };
  std::map<std::pair<Millis, std::uint64_t>, Due> queue_;
  std::map<run::CallId, Call> calls_;
  std::vector<ExecRule> exec_rules_;
  std::vector<HttpRule> http_rules_;
  bool accept_all_ = false;
  bool strict_ = true;
  std::vector<SentExec> sent_;
  std::vector<SentHttp> requests_;
  std::vector<std::string> unmatched_;
  std::size_t most_nodes_ = 0;
  std::size_t most_calls_ = 0;
};

}  // namespace sskj::test
