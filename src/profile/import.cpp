// Shell-style profile -> env form: one table of the names under which others keep the same things.
#include "sskj/profile/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import_place.hpp"
#include "import_shell.hpp"
#include "keys.hpp"
#include "leaf_text.hpp"
#include "source_text.hpp"
#include "words.hpp"

namespace sskj::profile {

namespace {

enum class How { scalar, words, nodes, docker, environment, per_node };

struct Name {
  std::string_view theirs, ours;
  How how;
};

constexpr std::array k_names = {
    Name{"IMAGE", "IMAGE", How::scalar}, Name{"DOCKER_IMAGE", "IMAGE", How::scalar}, Name{"IMAGE_NAME", "IMAGE", How::scalar},
    Name{"CONTAINER_IMAGE", "IMAGE", How::scalar}, Name{"MODEL_PATH", "MODEL_PATH", How::scalar}, Name{"MODEL_DIR", "MODEL_PATH", How::scalar},
    Name{"MODEL", "MODEL_PATH", How::scalar}, Name{"SERVED_MODEL", "SERVED_MODEL", How::scalar}, Name{"SERVED_MODEL_NAME", "SERVED_MODEL", How::scalar},
    Name{"MODEL_NAME", "SERVED_MODEL", How::scalar}, Name{"MODEL_ID", "SERVED_MODEL", How::scalar}, Name{"API_PORT", "PORT", How::scalar},
    Name{"SERVER_PORT", "PORT", How::scalar}, Name{"SERVICE_PORT", "PORT", How::scalar}, Name{"HOST", "HOST_BIND", How::scalar},
    Name{"DIST_PORT", "DIST_INIT_PORT", How::scalar}, Name{"MASTER_PORT", "DIST_INIT_PORT", How::scalar},
    Name{"CONTAINER_NAME", "NAME", How::scalar}, Name{"DEPLOYMENT", "NAME", How::scalar}, Name{"DEPLOY_NAME", "NAME", How::scalar},
    Name{"NODES", "NODES", How::nodes}, Name{"NODE_IPS", "NODES", How::nodes}, Name{"NODE_LIST", "NODES", How::nodes}, Name{"HOSTS", "NODES", How::nodes},
    Name{"LAUNCH_ARGS", "LAUNCH_ARGS", How::words}, Name{"SERVER_ARGS", "LAUNCH_ARGS", How::words}, Name{"SGLANG_ARGS", "LAUNCH_ARGS", How::words},
    Name{"ENGINE_ARGS", "LAUNCH_ARGS", How::words}, Name{"EXTRA_ARGS", "LAUNCH_ARGS", How::words}, Name{"MOUNTS", "MOUNTS", How::words},
    Name{"VOLUMES", "MOUNTS", How::words}, Name{"DEVICES", "DEVICES", How::words}, Name{"CAP_ADD", "CAP_ADD", How::words}, Name{"ULIMITS", "ULIMITS", How::words},
    Name{"PRE_CMD", "BOOTSTRAP", How::scalar}, Name{"SETUP_CMD", "BOOTSTRAP", How::scalar}, Name{"BOOTSTRAP_CMD", "BOOTSTRAP", How::scalar},
    Name{"NUM_GPUS", "GPUS_PER_NODE", How::scalar}, Name{"GPU_COUNT", "GPUS_PER_NODE", How::scalar},
    Name{"SSH_USER", "USER", How::per_node}, Name{"REMOTE_USER", "USER", How::per_node}, Name{"SSH_PORT", "PORT", How::per_node},
    Name{"DOCKER_ARGS", "", How::docker}, Name{"DOCKER_OPTS", "", How::docker}, Name{"DOCKER_RUN_ARGS", "", How::docker}, Name{"EXTRA_DOCKER_ARGS", "", How::docker},
    Name{"CONTAINER_ARGS", "", How::docker}, Name{"ENVS", "", How::environment}, Name{"ENV_VARS", "", How::environment}, Name{"CONTAINER_ENV", "", How::environment},
};

// Variables that are the engine's own wherever they are exported.
constexpr std::array<std::string_view, 16> k_engine_prefixes = {"NCCL_", "GLOO_", "SGLANG_", "SGL_", "HF_", "PYTORCH_", "CUDA_", "TORCH_",
                                                                "TRITON_", "MC_", "MOONCAKE_", "UCX_", "OMP_", "PYTHON", "TRANSFORMERS_", "FLASHINFER_"};

// Engine arguments that are settings of their own here.
struct Argument {
  std::string_view option, key;
};
constexpr std::array k_arguments = {Argument{"--model-path", "MODEL_PATH"}, Argument{"--model", "MODEL_PATH"}, Argument{"--served-model-name", "SERVED_MODEL"},
                                    Argument{"--host", "HOST_BIND"}, Argument{"--port", "PORT"}, Argument{"--nnodes", ""}, Argument{"--node-rank", ""},
                                    Argument{"--dist-init-addr", "DIST_INIT_PORT"}, Argument{"--nccl-init-addr", "DIST_INIT_PORT"}};

class Importer {
 public:
  Imported run(std::string_view text, const std::string& file) {
    SourceText source = clean_source(text, file);
    for (const Diagnostic& diagnostic : source.diagnostics) {
      placer_.refuse(diagnostic.at.line, diagnostic.message, "the file is not read");
    }
    if (source.diagnostics.empty()) {
      ShellScript script = read_shell(source.text);
      for (const Unplaced& item : script.refused) {
        placer_.refuse(item.line, item.text, item.reason);
      }
      // Nodes first: what is said of every node needs their number.
      for (const bool nodes : {true, false}) {
        for (const ShellVariable& variable : script.variables) {
          const Name* name = find_name(variable.name);
          if ((name != nullptr && name->how == How::nodes) == nodes) {
            place(variable, name);
          }
        }
      }
    }
    return std::move(placer_).finish(file);
  }

 private:
  static const Name* find_name(std::string_view name) {
    const auto it = std::find_if(k_names.begin(), k_names.end(), [&](const Name& n) { return n.theirs == name; });
    return it == k_names.end() ? nullptr : &*it;
  }

  // The words of an array as they are, of a string as a shell would split it.
  std::vector<std::string> words_of(const ShellVariable& variable) {
    if (variable.array) {
      return variable.words;
    }
    std::vector<std::string> out;
    const auto split = split_words(variable.words[0]);
    if (!split) {
      placer_.refuse(variable.line, variable.raw, split.error().message);
      return out;
    }
    for (const ShellWord& word : *split) {
      out.push_back(word.text);
    }
    return out;
  }

  void place(const ShellVariable& variable, const Name* name) {
    if (name == nullptr) {
      other(variable);
      return;
    }
    const std::string key(name->ours);
    if (!variable.unknown.empty() && key != "LAUNCH_ARGS") {
      placer_.refuse(variable.line, variable.raw, unset(variable.unknown.front()));
      return;
    }
    switch (name->how) {
      case How::scalar: scalar(variable, key); break;
      case How::nodes: nodes(variable); break;
      case How::docker: place_docker(placer_, words_of(variable), variable.line); break;
      case How::environment: environment(variable); break;
      case How::per_node: per_node(variable, key); break;
      case How::words:
        if (key == "LAUNCH_ARGS") {
          launch(variable);
        } else {
          placer_.add(key, words_of(variable), variable.line, variable.raw);
        }
        break;
    }
  }

  static std::string unset(const std::string& name) { return name + " is not set in this file"; }

  void scalar(const ShellVariable& variable, const std::string& key) {
    if (variable.words.size() != 1) {
      placer_.refuse(variable.line, variable.raw, fmt::format("{} takes one value", key));
      return;
    }
    placer_.set(key, variable.words[0], variable.line, variable.raw);
  }

  void nodes(const ShellVariable& variable) {
    std::string list;
    for (const std::string& word : words_of(variable)) {
      list += (list.empty() ? "" : ",") + word;
    }
    placer_.set("NODES", list, variable.line, variable.raw);
  }

  void environment(const ShellVariable& variable) {
    for (const std::string& word : words_of(variable)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos || !is_variable(std::string_view(word).substr(0, equals))) {
        placer_.refuse(variable.line, word, "no NAME=value");
      } else {
        placer_.set("ENV_" + word.substr(0, equals), word.substr(equals + 1), variable.line, word);
      }
    }
  }

  void per_node(const ShellVariable& variable, const std::string& field) {
    const std::size_t before = placer_.has("NODES") ? count_nodes() : 0;
    if (before == 0) {
      placer_.refuse(variable.line, variable.raw, "no nodes were found to set it for");
    }
    for (std::size_t i = 0; i < before; ++i) {
      placer_.set(fmt::format("NODE_{}_{}", i, field), variable.words.empty() ? "" : variable.words[0], variable.line, variable.raw);
    }
  }

  std::size_t count_nodes() {
    ParseOptions options;
    options.file = "import.env";
    const Parsed parsed = parse("NODES=" + env_quote(placer_.value("NODES")) + "\n", options);
    return parsed.profile.groups.empty() ? 0 : parsed.profile.groups[0].nodes.size();
  }

  void launch(const ShellVariable& variable) {
    const std::vector<std::string> words = words_of(variable);
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
      const std::string option = words[i].substr(0, equals);
      if (option == "--api-key" || option == "--admin-api-key") {
        placer_.refuse(variable.line, option, "a secret is given by reference only: API_KEY=from_env:NAME; replace a key that stood in a file");
        i += equals == std::string::npos ? 1 : 0;
        continue;
      }
      const auto it = std::find_if(k_arguments.begin(), k_arguments.end(), [&](const Argument& a) { return a.option == option; });
      if (it == k_arguments.end()) {
        keep(kept, words[i], variable);
        continue;
      }
      std::string value = equals == std::string::npos ? (i + 1 < words.size() ? words[++i] : std::string()) : words[i].substr(equals + 1);
      const std::string* name = unknown_in(value, variable);
      if (name != nullptr && !it->key.empty()) {
        placer_.refuse(variable.line, words[i], unset(*name));
      } else {
        argument(*it, std::move(value), variable.line);
      }
    }
    if (!kept.empty()) {
      placer_.add("LAUNCH_ARGS", kept, variable.line, variable.raw);
    }
  }

  static const std::string* unknown_in(const std::string& word, const ShellVariable& variable) {
    const auto it = std::find_if(variable.unknown.begin(), variable.unknown.end(), [&](const std::string& n) { return word.find(n) != std::string::npos; });
    return it == variable.unknown.end() ? nullptr : &*it;
  }

  // A word that cannot be known is left out, with the option whose value it is.
  void keep(std::vector<std::string>& kept, const std::string& word, const ShellVariable& variable) {
    const std::string* name = unknown_in(word, variable);
    if (name == nullptr) {
      kept.push_back(word);
      return;
    }
    std::string shown = word;
    if (!kept.empty() && kept.back().starts_with("--") && kept.back().find('=') == std::string::npos) {
      shown = kept.back() + " " + word;
      kept.pop_back();
    }
    placer_.refuse(variable.line, shown, unset(*name));
  }

  void argument(const Argument& argument, std::string value, std::size_t line) {
    const std::string raw = fmt::format("{} {}", argument.option, value);
    if (argument.key.empty()) {
      return;  // sskj counts nodes and ranks itself
    }
    if (argument.key == "DIST_INIT_PORT") {
      const std::size_t colon = value.rfind(':');
      const std::string host = value.substr(0, colon);
      value = colon == std::string::npos ? std::string() : value.substr(colon + 1);
      if (is_address(host) && placer_.has("NODES")) {
        placer_.set("NODE_0_DATA_ADDRESS", host, line, raw);
      }
    }
    placer_.set(std::string(argument.key), value, line, raw);
  }

  void other(const ShellVariable& variable) {
    if (!variable.unknown.empty()) {
      placer_.refuse(variable.line, variable.raw, unset(variable.unknown.front()));
      return;
    }
    const bool engine = std::any_of(k_engine_prefixes.begin(), k_engine_prefixes.end(), [&](std::string_view p) { return variable.name.starts_with(p); });
    const auto known = match_env_key(variable.name);
    if (known && variable.words.size() == 1) {
      placer_.set(variable.name, variable.words[0], variable.line, variable.raw);
    } else if (engine && variable.words.size() == 1) {
      placer_.set("ENV_" + variable.name, variable.words[0], variable.line, variable.raw);
    } else if (!variable.used) {
      placer_.refuse(variable.line, variable.raw, "no setting of that name");
    }
  }

  Placer placer_;
};

}  // namespace

Imported import_env(std::string_view text, const std::string& file) { return Importer().run(text, file); }

}  // namespace sskj::profile
