#include "known_hosts_cache.hpp"

namespace sskj::ssh {

const KnownHosts& KnownHostsCache::get(const std::vector<std::string>& files) {
  auto at = loaded_.find(files);
  if (at == loaded_.end()) {
    at = loaded_.emplace(files, load_known_hosts(files)).first;
  }
  return at->second;
}

Result<void> KnownHostsCache::add(const std::vector<std::string>& files, const std::string& name, const std::string& blob, bool hash) {
  if (files.empty()) {
    return fail(Errc::host_key, "there is no known_hosts file to add the new key to", "set UserKnownHostsFile in ssh_config");
  }
  SSKJ_TRY(append_known_host(files[0], name, blob, hash));
  for (auto& [list, hosts] : loaded_) {
    if (!list.empty() && list[0] == files[0]) {
      hosts.entries.push_back({Marker::none, name, key_type(blob), blob, {files[0], 0, 0}});
    }
  }
  return {};
}

}  // namespace sskj::ssh
