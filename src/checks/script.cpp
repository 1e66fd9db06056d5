// One read-only script per node: every probe under its own deadline, its output framed so that login-shell noise and other probes cannot be mistaken for it.
#include <array>
#include <charconv>

#include "sskj/checks/check.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/core/text.hpp"

namespace sskj::checks {
namespace {

// The frame's token is made on the node (run id and pid), so that no output prepared in advance can imitate it. A probe runs as `timeout sh -c BODY`: timeout makes a
// process group of its own and ends all of it; `head` bounds chatty tools; the exit status travels on fd 3 because a pipeline has only that of its last part.
constexpr std::string_view k_prologue = R"sh(
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin; export PATH
token=sskj-probe-${SSKJ_RUN:-none}-$$
command -v timeout >/dev/null || timeout() { while case $1 in -k) shift;; esac; do shift; done; shift; "$@"; }
exec 4>&1
docker_hangs=; export docker_hangs
probe() {
  printf '\036%s begin %s\036\n' "$token" "$1"
  rc=$( { { timeout -k 2 "$2" sh -c "$3" </dev/null 2>&1 3>&- 4>&-; echo "$?" >&3; } | head -c 65536 >&4; } 3>&1 )
  printf '\n\036%s end %s %s\036\n' "$token" "$1" "$rc"
  case $1:$rc in docker:124|docker:137) docker_hangs=1;; esac
}
printf '\036%s\036\n' "$token"
)sh";

// A docker that hangs is waited for once, not by every probe that would ask it (in a trial that cost four silent minutes).
constexpr std::string_view k_docker_once = R"sh(docker() { [ -z "$docker_hangs" ] || return 124; command docker "$@"; }
)sh";

constexpr char k_mark = '\036';

/// Text between the mark at `from` and the next mark; moves `from` behind it. Empty when there is none.
std::string_view marked(std::string_view text, std::size_t& from) {
  const auto end = text.find(k_mark, from + 1);
  if (end == std::string_view::npos) return {};
  const auto word = text.substr(from + 1, end - from - 1);
  from = end + 1;
  return word;
}

bool is_token(std::string_view word) { return word.starts_with("sskj-probe-") && word.find(' ') == std::string_view::npos; }

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Where the frame's own first line ends, and its token.
std::optional<std::pair<std::size_t, std::string_view>> find_token(std::string_view output) {
  for (auto at = output.find(k_mark); at != std::string_view::npos; at = output.find(k_mark, at + 1)) {
    auto next = at;
    const auto word = marked(output, next);
    if (is_token(word)) return std::pair{next, word};
  }
  return std::nullopt;
}

}  // namespace

std::string make_script(std::span<const Selected> probes) {
  std::string script = "# sskj: read-only probes";
  script += k_prologue;
  for (const auto& [check, probe] : probes) {
    std::string body;
    for (const auto& var : probe.vars) body += var.name + "=" + shell::quote(var.value) + "\n";
    if (check->id != "docker") body += k_docker_once;
    if (!check->prelude.empty()) body += std::string(text::trim(check->prelude)) + "\n";
    body += text::trim(check->body);
    script += "probe " + std::string(check->id) + " " + std::to_string(check->seconds) + " " + shell::quote(body) + "\n";
  }
  return script;
}

std::vector<std::pair<std::string, Output>> split_records(std::string_view output) {
  std::vector<std::pair<std::string, Output>> records;
  const auto start = find_token(output);
  if (!start) return records;
  const std::string begin = "\036" + std::string(start->second) + " begin ";
  auto at = start->first;
  while ((at = output.find(begin, at)) != std::string_view::npos) {
    const auto id_at = at + begin.size();
    const auto id_end = output.find(k_mark, id_at);
    if (id_end == std::string_view::npos) break;
    const std::string id(output.substr(id_at, id_end - id_at));
    const std::string end = "\n\036" + std::string(start->second) + " end " + id + " ";
    const auto body_at = std::min(id_end + 2, output.size());
    const auto body_end = output.find(end, body_at - 1);
    if (body_end == std::string_view::npos) break;
    const auto status_at = body_end + end.size();
    const auto status_end = output.find(k_mark, status_at);
    if (status_end == std::string_view::npos) break;
    Output record;
    record.status = number(output.substr(status_at, status_end - status_at));
    if (body_end > body_at) record.text = output.substr(body_at, body_end - body_at);
    records.emplace_back(id, std::move(record));
    at = status_end + 1;
  }
  return records;
}

bool Output::ended() const {
  const auto all = text::trim(text);
  return all == "end" || all.ends_with("\nend");
}

std::vector<std::string> Output::values(std::string_view key) const {
  std::vector<std::string> found;
  for (const auto& line : text::split_lines(text)) {
    if (line == key) found.emplace_back();
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') found.push_back(line.substr(key.size() + 1));
  }
  return found;
}

std::optional<std::string> Output::value(std::string_view key) const {
  auto all = values(key);
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

std::string Output::first_line() const {
  constexpr std::size_t k_shown = 200;
  for (const auto& line : text::split_lines(text)) {
    const auto trimmed = text::trim(line);
    if (!trimmed.empty() && trimmed != "end") return text::printable(text::to_valid_utf8(trimmed, k_shown));
  }
  return {};
}

}  // namespace sskj::checks
