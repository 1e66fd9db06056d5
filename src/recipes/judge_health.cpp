// Ready, and warm.
#include "judges.hpp"
#include "sskj/core/text.hpp"

namespace sskj::recipes {
namespace {

constexpr std::size_t k_quoted = 300;  ///< bytes of a body that messages quote

std::string shown(std::string_view body) { return text::printable(text::to_valid_utf8(text::trim(body), k_quoted)); }

run::Verdict no_answer(const run::StepResult& result, const std::string& what) {
  switch (seen(result)) {
    case Seen::refused: return reject(Errc::not_ready, what + ": the connection is refused: nothing listens there");
    case Seen::silent: return reject(Errc::not_ready, what + ": no answer in time");
    default: return reject(Errc::not_ready, what + ": " + (result.error ? result.error->message : std::string("no answer")));
  }
}

}  // namespace

Seen seen(const run::StepResult& result) {
  if (result.http) return Seen::answered;
  if (!result.error) return Seen::unreachable;
  if (result.error->code == Errc::not_ready) return Seen::refused;
  return result.error->code == Errc::timeout ? Seen::silent : Seen::unreachable;
}

// sglang.md 2.1: refused = loading, 503 = warm-up (or draining), 200 = ready; the body is empty and means nothing. A failing answer can take 20 s.
run::Verdict judge_health(const plan::Step&, std::string_view expectation, const run::StepResult& result) {
  const auto path = object_of(expectation).value("path", "/health");
  if (seen(result) == Seen::refused) return once_more("loading");
  if (seen(result) == Seen::silent) return once_more("no answer yet");
  if (seen(result) == Seen::unreachable) return once_more("cannot be asked");
  const int status = result.http->status;
  if (status == 200) return accept();
  if (status == 503) return once_more("warm-up");
  if (status == 401 || status == 403) {
    return reject(Errc::not_ready, path + " answers " + std::to_string(status) + ": the API key is not accepted", "check api_key in the profile");
  }
  if (status >= 300 && status < 500) {
    return reject(Errc::not_ready, path + " answers " + std::to_string(status) + ": another program listens on this port, or the health path is wrong: " + shown(result.http->body));
  }
  return once_more("health " + std::to_string(status));
}

run::Verdict judge_observe(const plan::Step&, std::string_view, const run::StepResult&) { return accept(); }

run::Verdict judge_warm(const plan::Step&, std::string_view, const run::StepResult& result) {
  if (seen(result) != Seen::answered) return no_answer(result, "the warm-up request");
  const auto answer = read_answer(result.http->body);
  if (result.http->status != 200 || !answer.error.empty()) {
    return reject(Errc::not_ready, "the warm-up request is answered " + std::to_string(result.http->status) + ": " + shown(answer.error.empty() ? result.http->body : answer.error));
  }
  if (!answer.json) return reject(Errc::not_ready, "the warm-up request is answered with something that is not JSON: " + shown(result.http->body));
  if (answer.finish_reason.empty() || answer.finish_reason == "abort") {
    return reject(Errc::not_ready, "the warm-up request did not end well: finish_reason is " + (answer.finish_reason.empty() ? "missing" : answer.finish_reason));
  }
  return accept();
}

run::Verdict judge_models(const plan::Step&, std::string_view expectation, const run::StepResult& result) {
  if (seen(result) != Seen::answered) return no_answer(result, "/v1/models");
  if (result.http->status != 200) {
    return reject(Errc::not_ready, "/v1/models answers " + std::to_string(result.http->status) + ": " + shown(result.http->body),
                  result.http->status == 401 ? "check api_key in the profile" : "");
  }
  const auto wanted = object_of(expectation).value("model", "");
  const auto body = Json::parse(result.http->body, nullptr, false);
  std::string served;
  if (body.is_object() && body.contains("data") && body["data"].is_array()) {
    for (const auto& model : body["data"]) {
      const auto id = text_of(model, "id");
      if (id == wanted) return accept();
      served += (served.empty() ? "" : ", ") + id;
    }
  }
  return reject(Errc::wrong_answer, "/v1/models does not name " + wanted + ": " + (served.empty() ? shown(result.http->body) : "it names " + shown(served)),
                "check served_model in the profile");
}

}  // namespace sskj::recipes
