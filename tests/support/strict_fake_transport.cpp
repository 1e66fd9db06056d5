#include "support/strict_fake_transport.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace sskj::test {

using run::CallId;
using run::Cancelled;
using run::TimedOut;

Reply lost(std::string message) {
  Reply reply;
  reply.outcome = run::Lost{{Errc::lost, std::move(message), ""}};
  return reply;
}

Reply not_run(Errc code, std::string message) {
  Reply reply;
  reply.outcome = run::NotRun{{code, std::move(message), ""}};
  return reply;
}

HttpReply answer(int status, std::string body, Millis after) { return {run::HttpResponse{status, std::move(body), false, after}, after, true}; }
HttpReply refused() { return {run::HttpRefused{"connection refused"}, Millis{1}, true}; }
HttpReply silent() { return {run::Cancelled{}, Millis{0}, false}; }
HttpReply http_not_run(Errc code) { return {run::NotRun{{code, "no route", ""}}, Millis{1}, true}; }
HttpReply http_lost() { return {run::Lost{{Errc::lost, "connection lost", ""}}, Millis{1}, true}; }

void StrictFakeTransport::on_exec(Matches matches, std::vector<Reply> replies) { exec_rules_.push_back({std::move(matches), std::move(replies), 0}); }

void StrictFakeTransport::on_script(std::string node, std::string part, std::vector<Reply> replies) {
  on_exec(
      [node = std::move(node), part = std::move(part)](const SentExec& exec) {
        return (node.empty() || exec.node == node) && exec.script.find(part) != std::string::npos;
      },
      std::move(replies));
}

void StrictFakeTransport::on_http(std::string node, std::uint16_t port, std::string target, std::vector<HttpReply> replies) {
  http_rules_.push_back({std::move(node), std::move(target), port, std::move(replies), 0});
}

void StrictFakeTransport::accept_everything() { accept_all_ = true; }

void StrictFakeTransport::at(Millis when, CallId call, std::function<void()> what) { queue_.emplace(std::pair{when, ++last_seq_}, Due{call, std::move(what)}); }

bool StrictFakeTransport::run_next(Millis until) {
  if (queue_.empty() || queue_.begin()->first.first > until) return false;
  auto due = queue_.extract(queue_.begin());
  now_ = std::max(now_, due.key().first);
  due.mapped().what();
  return true;
}

void StrictFakeTransport::advance(Millis span) {
  const Millis until = now_ + span;
  while (run_next(until)) {
  }
  now_ = until;
}

void StrictFakeTransport::run_until_idle(Millis limit) {
  const Millis until = now_ + limit;
  while (run_next(until)) {
  }
}

std::vector<SentExec> StrictFakeTransport::sent_to(std::string_view node) const {
  std::vector<SentExec> out;
  std::copy_if(sent_.begin(), sent_.end(), std::back_inserter(out), [&](const SentExec& exec) { return exec.node == node; });
  return out;
}

std::size_t StrictFakeTransport::running() const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [](const auto& call) { return !call.second.node.empty(); }));
}

void StrictFakeTransport::count_nodes() {
  std::map<std::string, std::size_t> busy;
  for (const auto& [id, call] : calls_) {
    if (!call.node.empty()) ++busy[call.node];
  }
  most_nodes_ = std::max(most_nodes_, busy.size());
  for (const auto& [node, count] : busy) most_calls_ = std::max(most_calls_, count);
}

void StrictFakeTransport::no_rule(std::string what) {
  if (strict_) ADD_FAILURE() << "the fake transport expects no such call: " << what;
  unmatched_.push_back(std::move(what));
}

std::optional<Reply> StrictFakeTransport::reply_for(const SentExec& exec) {
  for (auto& rule : exec_rules_) {
    if (!rule.matches(exec)) continue;
    if (rule.replies.empty()) return Reply{};
    return rule.replies.at(std::min(rule.next++, rule.replies.size() - 1));
  }
  return accept_all_ ? std::optional<Reply>(Reply{}) : std::nullopt;
}

CallId StrictFakeTransport::exec(const run::ExecRequest& request, run::ExecHandlers handlers) {
  const CallId id = ++last_id_;
  SentExec exec{request.node->id, std::string(request.script), std::string(request.input), request.vars, request.deadline, now_, id};
  auto reply = reply_for(exec);
  if (!reply) {
    no_rule(fmt::format("exec on {}: {}", exec.node, exec.script));
    reply = Reply{};
    reply->outcome = run::Exited{127};
  }
  sent_.push_back(std::move(exec));
  calls_[id] = Call{request.node->id, std::move(handlers), nullptr, reply->ignores_cancel};
  count_nodes();
  for (const auto& chunk : reply->chunks) {
    at(now_ + chunk.at, id, [this, id, chunk] {
      const auto call = calls_.find(id);
      if (call != calls_.end() && call->second.exec.output) call->second.exec.output(chunk.stream, chunk.bytes);
    });
  }
  if (reply->ends) at(now_ + reply->ends_after, id, [this, id, outcome = reply->outcome] { end_exec(id, outcome); });
  if (request.deadline > Millis{0} && !reply->ignores_deadline) {
    at(now_ + request.deadline, id, [this, id] { end_exec(id, TimedOut{{Errc::timeout, "deadline", ""}}); });
  }
  return id;
}

CallId StrictFakeTransport::http(const run::HttpRequest& request, std::function<void(run::HttpOutcome)> done) {
  const CallId id = ++last_id_;
  requests_.push_back({request, request.node->id, now_});
  const auto rule = std::find_if(http_rules_.begin(), http_rules_.end(), [&](const HttpRule& known) {
    return (known.node.empty() || known.node == request.node->id) && known.port == request.port && known.target == request.target;
  });
  HttpReply reply;
  if (rule != http_rules_.end()) {
    reply = rule->replies.at(std::min(rule->next++, rule->replies.size() - 1));
  } else if (!accept_all_) {
    no_rule(fmt::format("{} http://{}:{}{} by {}", request.method, request.host, request.port, request.target, request.node->id));
  }
  calls_[id] = Call{request.node->id, {}, std::move(done), false};
  count_nodes();
  if (reply.ends) at(now_ + reply.after, id, [this, id, outcome = reply.outcome] { end_http(id, outcome); });
  at(now_ + request.timeout, id, [this, id] { end_http(id, TimedOut{{Errc::timeout, "no answer in time", ""}}); });
  return id;
}

CallId StrictFakeTransport::after(Millis delay, std::function<void()> fire) {
  const CallId id = ++last_id_;
  calls_[id] = Call{};
  at(now_ + delay, id, [this, id, fire = std::move(fire)] {
    if (calls_.erase(id) > 0) fire();
  });
  return id;
}

void StrictFakeTransport::cancel(CallId call) {
  const auto found = calls_.find(call);
  if (found == calls_.end() || found->second.ignores_cancel) return;
  if (found->second.node.empty()) {
    calls_.erase(found);
    std::erase_if(queue_, [call](const auto& due) { return due.second.call == call; });
    return;
  }
  at(now_, call, [this, call] {
    end_exec(call, Cancelled{});
    end_http(call, Cancelled{});
  });
}

void StrictFakeTransport::end_exec(CallId id, const run::Outcome& outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || !found->second.exec.done) return;
  const auto done = std::move(found->second.exec.done);
  calls_.erase(found);
  std::erase_if(queue_, [id](const auto& due) { return due.second.call == id; });
  done(outcome);
}

void StrictFakeTransport::end_http(CallId id, run::HttpOutcome outcome) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || !found->second.http) return;
  const auto done = std::move(found->second.http);
  calls_.erase(found);
  std::erase_if(queue_, [id](const auto& due) { return due.second.call == id; });
  done(std::move(outcome));
}

}  // namespace sskj::test
