// `docker run` options -> settings: one table.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import_place.hpp"
#include "leaf_text.hpp"

namespace sskj::profile {

namespace {

enum class Take { scalar, word, flag, env, volume, mount, log_option, dropped, dropped_value };

struct Option {
  std::string_view name, key;  ///< key: ours; for `dropped` the reason
  Take take;
};

constexpr std::string_view k_ours = "sskj does this itself";

constexpr std::array k_options = {
    Option{"--network", "NETWORK", Take::scalar},   Option{"--net", "NETWORK", Take::scalar},         Option{"--ipc", "IPC", Take::scalar},
    Option{"--shm-size", "SHM_SIZE", Take::scalar}, Option{"--gpus", "GPUS", Take::scalar},           Option{"-w", "WORKDIR", Take::scalar},
    Option{"--workdir", "WORKDIR", Take::scalar},   Option{"--restart", "RESTART", Take::scalar},     Option{"--privileged", "PRIVILEGED", Take::flag},
    Option{"--init", "INIT", Take::flag},           Option{"--cap-add", "CAP_ADD", Take::word},       Option{"--device", "DEVICES", Take::word},
    Option{"--ulimit", "ULIMITS", Take::word},      Option{"-e", "", Take::env},                      Option{"--env", "", Take::env},
    Option{"-v", "", Take::volume},                 Option{"--volume", "", Take::volume},             Option{"--mount", "", Take::mount},
    Option{"--log-opt", "", Take::log_option},      Option{"-d", k_ours, Take::dropped},              Option{"--detach", k_ours, Take::dropped},
    Option{"--rm", "sskj removes containers itself, after their logs are kept", Take::dropped},
    Option{"-it", "the engine needs no terminal", Take::dropped}, Option{"-i", "the engine needs no terminal", Take::dropped},
    Option{"-t", "the engine needs no terminal", Take::dropped},  Option{"--name", "containers are named <deployment>_node<rank>; set NAME", Take::dropped_value},
    Option{"--user", "no such setting", Take::dropped_value},     Option{"-u", "no such setting", Take::dropped_value},
    Option{"--entrypoint", "use BOOTSTRAP", Take::dropped_value}, Option{"--security-opt", "no such setting", Take::dropped_value},
    Option{"--pid", "no such setting", Take::dropped_value},      Option{"--runtime", "use GPUS", Take::dropped_value},
    Option{"--env-file", "write its variables as ENV_<NAME>", Take::dropped_value}, Option{"--log-driver", "always json-file, rotated", Take::dropped_value},
    Option{"--hostname", "no such setting", Take::dropped_value}, Option{"--memory", "no such setting", Take::dropped_value},
    Option{"-m", "no such setting", Take::dropped_value},         Option{"--cpus", "no such setting", Take::dropped_value},
    Option{"--group-add", "no such setting", Take::dropped_value}, Option{"--add-host", "no such setting", Take::dropped_value},
    Option{"-p", "the host's network is used: ports need no publishing", Take::dropped_value},
    Option{"--publish", "the host's network is used: ports need no publishing", Take::dropped_value},
    Option{"--label", "sskj labels its containers itself", Take::dropped_value}, Option{"-l", "sskj labels its containers itself", Take::dropped_value},
};

class DockerReader {
 public:
  DockerReader(Placer& placer, const std::vector<std::string>& words, std::size_t line) : placer_(placer), words_(words), line_(line) {}

  void run() {
    while (at_ < words_.size()) {
      const std::string word = words_[at_++];
      if (word == "docker" || word == "run") {
        continue;
      }
      if (!word.starts_with('-')) {
        placer_.refuse(line_, word, "no option of docker run");
        continue;
      }
      one(word);
    }
  }

 private:
  void one(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const auto it = std::find_if(k_options.begin(), k_options.end(), [&](const Option& o) { return o.name == name; });
    if (it == k_options.end()) {
      unknown(word, name, equals);
      return;
    }
    if (it->take == Take::flag || it->take == Take::dropped) {
      const std::string value = equals == std::string::npos ? "true" : word.substr(equals + 1);
      it->take == Take::flag ? placer_.set(std::string(it->key), value, line_, word) : placer_.refuse(line_, word, std::string(it->key));
      return;
    }
    if (equals == std::string::npos && at_ == words_.size()) {
      placer_.refuse(line_, word, "its value is missing");
      return;
    }
    place(*it, equals == std::string::npos ? words_[at_++] : word.substr(equals + 1));
  }

  void unknown(const std::string& word, const std::string& name, std::size_t equals) {
    // -vA:B and -eA=B are written without a blank as well.
    for (const Option& option : k_options) {
      if (option.name.size() == 2 && word.size() > 2 && name.starts_with(option.name) && !name.starts_with("--") && option.take != Take::dropped) {
        place(option, word.substr(2));
        return;
      }
    }
    const bool value = equals == std::string::npos && at_ < words_.size() && !words_[at_].starts_with('-');
    placer_.refuse(line_, value ? word + " " + words_[at_] : word, "an option of docker that has no setting here");
    at_ += value ? 1 : 0;
  }

  void place(const Option& option, const std::string& value) {
    const std::string raw = fmt::format("{} {}", option.name, value);
    switch (option.take) {
      case Take::scalar: placer_.set(std::string(option.key), option.key == "GPUS" ? unquoted(value) : value, line_, raw); break;
      case Take::word: placer_.add(std::string(option.key), {value}, line_, raw); break;
      case Take::env: environment(value, raw); break;
      case Take::volume: volume(value, raw); break;
      case Take::mount: mount(value, raw); break;
      case Take::log_option: log_option(value, raw); break;
      case Take::dropped_value: placer_.refuse(line_, raw, std::string(option.key)); break;
      case Take::flag: case Take::dropped: break;
    }
  }

  static std::string unquoted(std::string value) {
    value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
    return value;
  }

  void environment(const std::string& value, const std::string& raw) {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos || !is_variable(std::string_view(value).substr(0, equals))) {
      placer_.refuse(line_, raw, "takes a value of the shell that runs docker: write ENV_<NAME>=value");
      return;
    }
    placer_.set("ENV_" + value.substr(0, equals), value.substr(equals + 1), line_, value);
  }

  void volume(const std::string& value, const std::string& raw) {
    const std::size_t first = value.find(':'), second = first == std::string::npos ? first : value.find(':', first + 1);
    if (first == std::string::npos) {
      placer_.refuse(line_, raw, "an anonymous volume: name a directory of the node");
      return;
    }
    const std::string paths = value.substr(0, second);
    const std::string options = second == std::string::npos ? std::string() : "," + value.substr(second + 1) + ",";
    const bool read_only = options.find(",ro,") != std::string::npos;
    placer_.add("MOUNTS", {paths + (read_only ? ":ro" : "")}, line_, raw);
  }

  void mount(const std::string& value, const std::string& raw) {
    std::string source, target, type = "volume", read_only;
    for (std::size_t start = 0; start < value.size();) {
      const std::size_t comma = std::min(value.find(',', start), value.size());
      const std::string field = value.substr(start, comma - start);
      const std::string name = field.substr(0, field.find('=')), content = field.find('=') == std::string::npos ? "" : field.substr(field.find('=') + 1);
      if (name == "type") {
        type = content;
      } else if (name == "source" || name == "src") {
        source = content;
      } else if (name == "target" || name == "dst" || name == "destination") {
        target = content;
      } else if ((name == "readonly" || name == "ro") && content != "false") {
        read_only = ":ro";
      }
      start = comma + 1;
    }
    if (type != "bind") {
      placer_.refuse(line_, raw, "only bind mounts have a setting");
      return;
    }
    std::string word = source;
    word += ":" + target + read_only;
    placer_.add("MOUNTS", {word}, line_, raw);
  }

  void log_option(const std::string& value, const std::string& raw) {
    const std::size_t equals = value.find('=');
    const std::string name = value.substr(0, equals);
    if (equals != std::string::npos && (name == "max-size" || name == "max-file")) {
      placer_.set(name == "max-size" ? "LOG_MAX_SIZE" : "LOG_MAX_FILES", value.substr(equals + 1), line_, raw);
    } else {
      placer_.refuse(line_, raw, "only max-size and max-file have a setting");
    }
  }

  Placer& placer_;
  const std::vector<std::string>& words_;
  std::size_t line_, at_ = 0;
};

}  // namespace

void place_docker(Placer& placer, const std::vector<std::string>& words, std::size_t line) { DockerReader(placer, words, line).run(); }

}  // namespace sskj::profile
