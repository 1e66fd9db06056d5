#include "sskj/ssh/bootstrap.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace sskj::ssh {

namespace {

// Cheap on purpose (200 hosts share one bench machine, issue 2 point 6): without input two forks and two execs beyond the login shell's own.
//  w  the watchdog: reads until the end of the channel, then stops the process group. `read` is a builtin: no process of its own.
//  r  runs the script and writes the trailer. The script is an argument of its own sh, so that $$ and kill -9 of itself are its own.
// With input: the left side of the pipe is feeder and watchdog in one; it tells its pid through the pipe (POSIX sh has no other way), passes exactly the input,
// and closes the pipe only when the closing key arrived. `cat` instead of `read`, because a script may leave megabytes of its input unread.
constexpr std::string_view k_script =
    "export LC_ALL=C;"
    "IFS= read -r K&&read -r N M&&IFS= read -r SSKJ_RUN&&IFS= read -r SSKJ_PLAN&&IFS= read -r SSKJ_SINCE||exit 97;"
    "export SSKJ_RUN SSKJ_PLAN SSKJ_SINCE;"
    "S=$(head -c $N);"
    "printf %s \"$K(\";printf %s \"$K(\" >&2;"
    "e(){ trap \"\" TERM;kill -TERM 0;sleep 2;kill -KILL 0;};"
    "r(){ sh -c \"$S\";R=$?;kill $W;printf \"%s%d)\" \"$K\" $R >&2;exit $R;};"
    "exec 3<&0 </dev/null;"
    "if [ $M = 0 ];then "
    "{ while read -r X;do :;done;e;} <&3 >/dev/null 2>&1 & W=$!;exec 3<&-;r;"
    "else "
    "{ exec 2>/dev/null;read -r W X </proc/self/stat;echo $W;head -c $M <&3;"
    "IFS= read -r X <&3&&[ \"$X\" = \"$K\" ]&&exec >&-;cat <&3 >/dev/null;e;}|{ exec 3<&-;read -r W;r;};"
    "fi";

std::string one_line(std::string_view value) {
  std::string out;
  std::copy_if(value.begin(), value.end(), std::back_inserter(out), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  return out;
}

/// Length of the longest suffix of `text` that is a prefix of `key`.
std::size_t partial_match(std::string_view text, std::string_view key) {
  for (std::size_t length = std::min(text.size(), key.size() - 1); length > 0; --length) {
    if (text.substr(text.size() - length) == key.substr(0, length)) {
      return length;
    }
  }
  return 0;
}

constexpr std::size_t k_max_noise = 4096;
constexpr std::size_t k_max_status_digits = 3;

}  // namespace

std::string_view bootstrap_script() { return k_script; }

std::string bootstrap_command(bool sudo) {
  std::string command = sudo ? "exec sudo -n -- sh -c '" : "exec sh -c '";
  command.append(k_script).append("'");
  return command;
}

std::string new_key() {
  std::array<unsigned char, 8> random{};
  for (std::size_t got = 0; got < random.size();) {
    const ssize_t n = ::getrandom(random.data() + got, random.size() - got, 0);
    got += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::string key = "\x1esskj:";
  for (const unsigned char byte : random) {
    key += k_hex[byte >> 4U];
    key += k_hex[byte & 15U];
  }
  return key;
}

Feed::Feed(const std::string& key, std::string_view script, std::string_view input, const run::RunVars& vars) {
  head_ = key + "\n" + std::to_string(script.size()) + " " + std::to_string(input.size()) + "\n" + one_line(vars.run) + "\n" + one_line(vars.plan) + "\n" +
          one_line(vars.since) + "\n";
  tail_ = input.empty() ? "" : key + "\n";
  parts_[0] = head_;
  parts_[1] = script;
  parts_[2] = input;
  parts_[3] = tail_;
}

std::string_view Feed::peek() const {
  for (std::size_t at = at_; at < std::size(parts_); ++at) {
    if (!parts_[at].empty()) {
      return parts_[at];
    }
  }
  return {};
}

void Feed::consume(std::size_t bytes) {
  while (at_ < std::size(parts_) && parts_[at_].empty()) {
    ++at_;
  }
  if (at_ < std::size(parts_)) {
    parts_[at_].remove_prefix(std::min(bytes, parts_[at_].size()));
  }
}

void Decoder::before_mark(run::Stream stream, std::string& held, bool& marked, const Emit& emit) {
  const std::string mark = key_ + "(";
  const auto at = held.find(mark);
  const std::size_t before = at == std::string::npos ? held.size() - partial_match(held, mark) : at;
  noise_.append(held, 0, std::min(before, k_max_noise - std::min(k_max_noise, noise_.size())));
  held.erase(0, before);
  if (at == std::string::npos) {
    return;
  }
  held.erase(0, mark.size());
  marked = started_ = true;
  if (stream == run::Stream::err) {
    scan_trailer(emit);
  } else if (!held.empty()) {
    emit(stream, held);
    held.clear();
  }
}

void Decoder::scan_trailer(const Emit& emit) {
  while (!err_held_.empty()) {
    const auto at = err_held_.find(key_);
    const std::size_t before = at == std::string::npos ? err_held_.size() - partial_match(err_held_, key_) : at;
    if (before > 0) {
      emit(run::Stream::err, std::string_view(err_held_).substr(0, before));
      err_held_.erase(0, before);
    }
    if (at == std::string::npos) {
      return;
    }
    const auto end = err_held_.find_first_not_of("0123456789", key_.size());
    if (end == std::string::npos && err_held_.size() <= key_.size() + k_max_status_digits) {
      return;  // the rest of the trailer is still on its way
    }
    const std::size_t digits = end == std::string::npos ? 0 : end - key_.size();
    if (digits > 0 && digits <= k_max_status_digits && err_held_[end] == ')') {
      status_ = std::stoi(err_held_.substr(key_.size(), digits));
      err_held_.clear();  // what a background child of the script still writes belongs to no one
      return;
    }
    emit(run::Stream::err, std::string_view(err_held_).substr(0, key_.size()));
    err_held_.erase(0, key_.size());
  }
}

void Decoder::feed(run::Stream stream, std::string_view bytes, const Emit& emit) {
  if (stream == run::Stream::out) {
    if (out_marked_) {
      emit(stream, bytes);
      return;
    }
    out_held_.append(bytes);
    before_mark(stream, out_held_, out_marked_, emit);
    return;
  }
  if (status_) {
    return;
  }
  err_held_.append(bytes);
  if (err_marked_) {
    scan_trailer(emit);
  } else {
    before_mark(stream, err_held_, err_marked_, emit);
  }
}

void Decoder::finish(const Emit& emit) {
  if (err_marked_ && !status_ && !err_held_.empty()) {
    emit(run::Stream::err, err_held_);
  } else if (!err_marked_) {
    noise_.append(err_held_, 0, k_max_noise - std::min(k_max_noise, noise_.size()));
  }
  err_held_.clear();
  out_held_.clear();
}

}  // namespace sskj::ssh
