// ContainerSpec -> argv of `docker run`.
#include <fmt/format.h>

#include <algorithm>

#include "sskj/core/shell.hpp"
#include "sskj/deploy/spec.hpp"

namespace sskj::deploy {

namespace {

// --mount and --gpus are read as one line of CSV (RFC 4180): a field with a comma or a quote stands in quotes.
std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"") == std::string::npos && !field.starts_with(' ')) {
    return field;
  }
  std::string out = "\"";
  for (const char c : field) {
    out += c;
    if (c == '"') {
      out += c;
    }
  }
  return out + "\"";
}

std::string mount_value(const Mount& mount) {
  std::string out = "type=bind," + csv_field("source=" + mount.source) + "," + csv_field("target=" + mount.target);
  return mount.read_only ? out + ",readonly" : out;
}

std::string ulimit_value(const Ulimit& limit) {
  return limit.soft == limit.hard ? fmt::format("{}={}", limit.name, limit.soft) : fmt::format("{}={}:{}", limit.name, limit.soft, limit.hard);
}

class Words {
 public:
  void add(std::string text) { words_.push_back({std::move(text), false}); }
  void add(std::string_view option, std::string value) {
    add(std::string(option));
    add(std::move(value));
  }
  void expanding(std::string_view option, std::string value) {
    add(std::string(option));
    words_.push_back({std::move(value), true});
  }
  std::vector<Word> take() { return std::move(words_); }

 private:
  std::vector<Word> words_;
};

void add_isolation(Words& words, const ContainerSpec& spec) {
  if (spec.init) {
    words.add("--init");
  }
  words.add("--network", spec.network);
  words.add("--ipc", spec.ipc);
  if (spec.shm_bytes != 0) {
    words.add("--shm-size", std::to_string(spec.shm_bytes));
  }
  if (!spec.gpus.empty()) {
    words.add("--gpus", csv_field(spec.gpus));
  }
  if (spec.privileged) {
    words.add("--privileged");
  }
  for (const std::string& device : spec.devices) {
    words.add("--device", device);
  }
  for (const std::string& capability : spec.cap_add) {
    words.add("--cap-add", capability);
  }
  for (const Ulimit& limit : spec.ulimits) {
    words.add("--ulimit", ulimit_value(limit));
  }
  if (!spec.workdir.empty()) {
    words.add("--workdir", spec.workdir);
  }
}

}  // namespace

std::vector<Word> docker_run_words(const ContainerSpec& spec) {
  Words words;
  words.add("docker");
  words.add("run");
  words.add("-d");
  words.add("--name", spec.name);
  add_isolation(words, spec);
  for (const EnvVar& variable : spec.env) {
    words.add("--env", variable.name + "=" + variable.value);
  }
  for (const Mount& mount : spec.mounts) {
    words.add("--mount", mount_value(mount));
  }
  // The driver is named: with another default the two options would be refused.
  words.add("--log-driver", "json-file");
  words.add("--log-opt", "max-size=" + spec.log_max_size);
  words.add("--log-opt", fmt::format("max-file={}", spec.log_max_files));
  for (const auto& [name, value] : spec.labels) {
    words.add("--label", name + "=" + value);
  }
  words.expanding("--label", "sskj.plan=$SSKJ_PLAN");
  words.expanding("--label", "sskj.run=$SSKJ_RUN");
  words.add(spec.image);
  for (const std::string& word : spec.command) {
    words.add(word);
  }
  return words.take();
}

std::string docker_run_command(const ContainerSpec& spec) {
  std::string out;
  for (const Word& word : docker_run_words(spec)) {
    out += out.empty() ? "" : " ";
    out += word.expands ? "\"" + word.text + "\"" : shell::quote(word.text);
  }
  return out;
}

}  // namespace sskj::deploy
