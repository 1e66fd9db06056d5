// KnownHostsCache: known_hosts files are read once per transport; keys accepted on the way are added to file and memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sskj/ssh/known_hosts.hpp"

namespace sskj::ssh {

class KnownHostsCache {
 public:
  const KnownHosts& get(const std::vector<std::string>& files);
  Result<void> add(const std::vector<std::string>& files, const std::string& name, const std::string& blob, bool hash);

 private:
  std::map<std::vector<std::string>, KnownHosts> loaded_;
};

}  // namespace sskj::ssh
