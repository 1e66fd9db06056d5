#include "sskj/deploy/deployment.hpp"

namespace sskj::deploy {

SourceRef SourceMap::find(std::string path) const {
  for (;;) {
    if (const auto it = at_.find(path); it != at_.end()) {
      return it->second;
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) {
      const auto root = at_.find("");
      return path.empty() || root == at_.end() ? SourceRef{} : root->second;
    }
    path.resize(dot);
  }
}

}  // namespace sskj::deploy
