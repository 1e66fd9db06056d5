// The one definition of sameness: a container specification against `docker inspect`. Shapes recorded with docker 20.10.24 (tests/data/inspect).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sskj/deploy/spec.hpp"

namespace sskj::deploy {

namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;

const Json& child(const Json& object, const char* key) {
  static const Json k_null;
  if (!object.is_object()) {
    return k_null;
  }
  const auto it = object.find(key);
  return it == object.end() ? k_null : *it;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }
std::string text_at(const Json& object, const char* key) { return text_of(child(object, key)); }
bool bool_at(const Json& object, const char* key) { return child(object, key).is_boolean() && child(object, key).get<bool>(); }
std::int64_t number_at(const Json& object, const char* key) {
  const Json& value = child(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> out;
  if (list.is_array()) {
    for (const Json& item : list) {
      out.push_back(text_of(item));
    }
  }
  return out;
}

Texts variables(const Json& list) {
  Texts out;
  for (const std::string& item : strings(list)) {
    const std::size_t equals = item.find('=');
    out[item.substr(0, equals)] = equals == std::string::npos ? std::string() : item.substr(equals + 1);
  }
  return out;
}

// "IPC_LOCK", "CAP_IPC_LOCK" and "ipc_lock" are the same to docker.
std::string capability(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name.starts_with("CAP_") ? name.substr(4) : name;
}

// HOST[:CONTAINER][:PERMISSIONS] as docker completes it.
std::string device(const std::string& written) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= written.size();) {
    const std::size_t colon = std::min(written.find(':', start), written.size());
    parts.push_back(written.substr(start, colon - start));
    start = colon + 1;
  }
  const bool only_rights = parts.size() == 2 && parts[1].find_first_not_of("rwm") == std::string::npos;
  const std::string inside = parts.size() > 1 && !only_rights ? parts[1] : parts[0];
  const std::string rights = only_rights ? parts[1] : parts.size() > 2 ? parts[2] : "rwm";
  return parts[0] + ":" + inside + ":" + rights;
}

std::string mount_text(const std::string& source, bool read_only) { return source + (read_only ? " (read-only)" : ""); }
std::string limit_text(std::int64_t soft, std::int64_t hard) { return fmt::format("{}:{}", soft, hard); }
std::string yes_no(bool value) { return value ? "true" : "false"; }

std::string gpus_text(const Json& requests) {
  if (!requests.is_array() || requests.empty()) {
    return {};
  }
  const Json& request = requests.front();
  const std::vector<std::string> ids = strings(child(request, "DeviceIDs"));
  if (!ids.empty()) {
    return fmt::format("device={}", fmt::join(ids, ","));
  }
  const std::int64_t count = number_at(request, "Count");
  return count < 0 ? "all" : std::to_string(count);
}

Texts artifacts(const std::string& label) {
  Texts out;
  for (std::size_t start = 0; start < label.size();) {
    const std::size_t comma = std::min(label.find(',', start), label.size());
    const std::string item = label.substr(start, comma - start);
    const std::size_t equals = item.find('=');
    out[item.substr(0, equals)] = equals == std::string::npos ? std::string() : item.substr(equals + 1);
    start = comma + 1;
  }
  return out;
}

class Comparer {
 public:
  Comparer(const ContainerSpec& spec, const Json& inspect, const Json& image_env, std::string_view image_id)
      : spec_(spec), inspect_(inspect), host_(child(inspect, "HostConfig")), config_(child(inspect, "Config")), image_env_(image_env), image_id_(image_id) {}

  std::vector<FieldDiff> run() {
    one("name", spec_.name, text_at(inspect_, "Name").substr(text_at(inspect_, "Name").starts_with('/') ? 1 : 0));
    if (image_id_.empty()) {
      one("image", spec_.image, text_at(config_, "Image"));
    } else {
      one("image", std::string(image_id_), text_at(inspect_, "Image"));
    }
    argv();
    env();
    mounts();
    host_settings();
    lists();
    labels();
    return std::move(out_);
  }

 private:
  void one(std::string field, const std::string& want, const std::string& have) {
    out_.push_back({std::move(field), want, have, want == have ? Change::same : Change::differs});
  }

  void all(const std::string& prefix, const Texts& want, const Texts& have) {
    for (const auto& [name, value] : want) {
      const auto it = have.find(name);
      if (it == have.end()) {
        out_.push_back({prefix + name, value, "", Change::missing});
      } else {
        one(prefix + name, value, it->second);
      }
    }
    for (const auto& [name, value] : have) {
      if (want.find(name) == want.end()) {
        out_.push_back({prefix + name, "", value, Change::extra});
      }
    }
  }

  void argv() {
    const std::vector<std::string> have = strings(child(config_, "Cmd"));
    for (std::size_t i = 0; i < std::max(spec_.command.size(), have.size()); ++i) {
      const std::string field = fmt::format("argv[{}]", i);
      if (i >= have.size()) {
        out_.push_back({field, spec_.command[i], "", Change::missing});
      } else if (i >= spec_.command.size()) {
        out_.push_back({field, "", have[i], Change::extra});
      } else {
        one(field, spec_.command[i], have[i]);
      }
    }
  }

  // The plan's variables plus exactly the image's own: anything else was added by hand or by a proxy setting of docker's client.
  void env() {
    Texts want = variables(image_env_);
    for (const EnvVar& variable : spec_.env) {
      want[variable.name] = variable.value;
    }
    all("env.", want, variables(child(config_, "Env")));
  }

  void mounts() {
    Texts want, have;
    for (const Mount& mount : spec_.mounts) {
      want[mount.target] = mount_text(mount.source, mount.read_only);
    }
    for (const Json& mount : child(inspect_, "Mounts")) {
      if (text_at(mount, "Type") != "volume") {  // volumes are the image's own
        have[text_at(mount, "Destination")] = mount_text(text_at(mount, "Source"), !bool_at(mount, "RW"));
      }
    }
    all("mounts.", want, have);
  }

  void host_settings() {
    one("network", spec_.network, text_at(host_, "NetworkMode"));
    one("ipc", spec_.ipc, text_at(host_, "IpcMode"));
    if (spec_.shm_bytes != 0) {
      one("shm_size", std::to_string(spec_.shm_bytes), std::to_string(number_at(host_, "ShmSize")));
    }
    one("gpus", spec_.gpus, gpus_text(child(host_, "DeviceRequests")));
    one("privileged", yes_no(spec_.privileged), yes_no(bool_at(host_, "Privileged")));
    one("init", yes_no(spec_.init), yes_no(bool_at(host_, "Init")));
    const std::string restart = text_at(child(host_, "RestartPolicy"), "Name");
    one("restart", "no", restart.empty() ? "no" : restart);
    if (!spec_.workdir.empty()) {
      one("workdir", spec_.workdir, text_at(config_, "WorkingDir"));
    }
    const Json& log = child(host_, "LogConfig");
    one("log.driver", "json-file", text_at(log, "Type"));
    one("log.max_size", spec_.log_max_size, text_at(child(log, "Config"), "max-size"));
    one("log.max_files", std::to_string(spec_.log_max_files), text_at(child(log, "Config"), "max-file"));
  }

  void lists() {
    Texts want, have;
    for (const std::string& name : spec_.cap_add) {
      want[capability(name)] = "added";
    }
    for (const std::string& name : strings(child(host_, "CapAdd"))) {
      have[capability(name)] = "added";
    }
    all("cap_add.", want, have);
    want.clear();
    have.clear();
    for (const std::string& written : spec_.devices) {
      want[device(written)] = "present";
    }
    for (const Json& item : child(host_, "Devices")) {
      have[text_at(item, "PathOnHost") + ":" + text_at(item, "PathInContainer") + ":" + text_at(item, "CgroupPermissions")] = "present";
    }
    all("devices.", want, have);
    want.clear();
    have.clear();
    for (const Ulimit& limit : spec_.ulimits) {
      want[limit.name] = limit_text(limit.soft, limit.hard);
    }
    for (const Json& item : child(host_, "Ulimits")) {
      have[text_at(item, "Name")] = limit_text(number_at(item, "Soft"), number_at(item, "Hard"));
    }
    all("ulimits.", want, have);
  }

  void labels() {
    const Json& have = child(config_, "Labels");
    for (const auto& [name, value] : spec_.labels) {
      if (name == "sskj.artifacts") {
        all("artifacts.", artifacts(value), artifacts(text_at(have, name.c_str())));
      } else if (name != "sskj.version") {
        one("labels." + name, value, text_at(have, name.c_str()));
      }
    }
  }

  const ContainerSpec& spec_;
  const Json& inspect_;
  const Json& host_;
  const Json& config_;
  const Json& image_env_;
  std::string_view image_id_;
  std::vector<FieldDiff> out_;
};

tl::unexpected<Error> not_docker(const char* what) {
  return fail(Errc::internal, fmt::format("{} is not what docker inspect prints", what), "run with -vv and look at the raw output in the run directory");
}

}  // namespace

Result<std::vector<FieldDiff>> compare_fields(const ContainerSpec& spec, std::string_view inspect_json, std::string_view image_env_json,
                                              std::string_view image_id) {
  const Json document = Json::parse(inspect_json, nullptr, false);
  const Json image_env = Json::parse(image_env_json, nullptr, false);
  const Json& inspect = document.is_array() && document.size() == 1 ? document.front() : document;
  if (!inspect.is_object() || !child(inspect, "Config").is_object() || !child(inspect, "HostConfig").is_object()) {
    return not_docker("the container's JSON");
  }
  if (!image_env.is_array() && !image_env.is_null()) {
    return not_docker("the image's environment");
  }
  return Comparer(spec, inspect, image_env, image_id).run();
}

Result<std::vector<FieldDiff>> compare(const ContainerSpec& spec, std::string_view inspect_json, std::string_view image_env_json, std::string_view image_id) {
  auto fields = compare_fields(spec, inspect_json, image_env_json, image_id);
  if (fields) {
    std::erase_if(*fields, [](const FieldDiff& field) { return field.change == Change::same; });
  }
  return fields;
}

}  // namespace sskj::deploy
