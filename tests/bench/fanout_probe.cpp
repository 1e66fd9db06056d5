// Stand-in for `sskj exec --ssh-config F --fanout N -l NODESET -- true`: the transport alone, to see what of tests/bench/fanout is the transport's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sskj/core/nodeset.hpp"
#include "sskj/net/loop.hpp"
#include "sskj/ssh/transport.hpp"

int main(int argc, char** argv) {
  using namespace sskj;
  std::string list, config, script = "true";
  std::size_t fanout = 64;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-l") {
      list = argv[++i];
    } else if (word == "--ssh-config") {
      config = argv[++i];
    } else if (word == "--fanout") {
      fanout = static_cast<std::size_t>(std::atoi(argv[++i]));
    } else if (word == "--") {
      script = argv[i + 1];
    }
  }
  const auto hosts = nodeset::expand(list);
  if (!hosts) {
    return 2;
  }
  std::vector<plan::Node> nodes;
  for (const auto& host : *hosts) {
    nodes.emplace_back().id = host;
    nodes.back().ssh.host = host;
  }
  net::Loop loop;
  ssh::Options options;
  options.config_file = config;
  options.handshakes = fanout;
  const auto transport = ssh::make_transport(loop, options);
  std::size_t next = 0, done = 0, ok = 0;
  std::function<void()> more = [&] {
    for (; next < nodes.size() && next - done < fanout; ++next) {
      run::ExecRequest request;
      request.node = &nodes[next];
      request.script = script;
      run::ExecHandlers handlers;
      handlers.done = [&](const run::Outcome& outcome) {
        const auto* exited = std::get_if<run::Exited>(&outcome);
        ok += exited != nullptr && exited->status == 0 ? 1 : 0;
        if (const auto* failed = std::get_if<run::NotRun>(&outcome)) {
          std::fprintf(stderr, "%s\n", failed->error.message.c_str());
        }
        if (++done == nodes.size()) {
          loop.stop();
        } else {
          more();
        }
      };
      transport->exec(request, std::move(handlers));
    }
  };
  more();
  loop.run();
  std::printf("%zu of %zu ok\n", ok, nodes.size());
  return ok == nodes.size() ? 0 : 1;
}
