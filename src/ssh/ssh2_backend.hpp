// The libssh2 backend: connections kept per endpoint, shared by calls and by jump hosts.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "backend.hpp"
#include "connection.hpp"

namespace sskj::ssh {

class Ssh2Backend : public Backend {
 public:
  Ssh2Backend(net::Loop& loop, const Options& options);
  ~Ssh2Backend() override;
  std::unique_ptr<RunningExec> exec(const run::ExecRequest& request, run::ExecHandlers handlers) override;
  std::unique_ptr<Stream> open_stream(const run::HttpRequest& request, StreamOpened opened) override;

  Resolver& resolver() { return shared_->resolver; }
  std::shared_ptr<Connection> connection_for(const plan::SshTarget& target, int depth);

 private:
  struct Library {
    Library();
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
  };
  Library library_;
  net::Loop& loop_;
  const Options& options_;
  std::unique_ptr<Shared> shared_;
  std::map<std::string, std::shared_ptr<Connection>> connections_;
};

}  // namespace sskj::ssh
