// The node holds its data address, on the interface that NCCL and Gloo are told to use.
#include "rows.hpp"

namespace sskj::checks {
namespace {

// iproute2 may be missing: then /proc/net/fib_trie and if_inet6 tell whether the address is local, though not where.
constexpr std::string_view k_body = R"sh(
if command -v ip >/dev/null; then
  ip -o addr show 2>&1 | awk '{split($4, a, "/"); print "addr", a[1], $2}'
else
  awk '/\|--/ {a = $2} /host LOCAL/ {print "addr", a, "?"}' /proc/net/fib_trie 2>/dev/null | sort -u
fi
echo end
)sh";

std::string env_of(const deploy::ContainerSpec& spec, std::string_view name) {
  for (const auto& var : spec.env) {
    if (var.name == name) return var.value;
  }
  return {};
}

std::optional<Probe> probe(const NodeView& view) {
  if (view.ranks.empty()) return std::nullopt;
  const auto& first = *view.ranks.front().rank;
  const auto& address = first.data_address.empty() ? view.node->data_address : first.data_address;
  if (address.empty()) return std::nullopt;
  const Json expectation{{"address", address}, {"nccl", env_of(first.spec, "NCCL_SOCKET_IFNAME")}, {"gloo", env_of(first.spec, "GLOO_SOCKET_IFNAME")}};
  return Probe{{}, expectation.dump()};
}

/// NCCL takes a list of name prefixes, `=` for exact names, `^` for exclusion (NCCL documentation); empty = its own choice.
bool nccl_names(std::string_view setting, std::string_view nic) {
  if (setting.empty()) return true;
  const bool excludes = setting.front() == '^';
  if (excludes) setting.remove_prefix(1);
  const bool exact = !setting.empty() && setting.front() == '=';
  if (exact) setting.remove_prefix(1);
  bool matches = false;
  while (!setting.empty()) {
    const auto name = setting.substr(0, setting.find(','));
    matches = matches || (exact ? nic == name : nic.starts_with(name));
    setting.remove_prefix(std::min(name.size() + 1, setting.size()));
  }
  return matches != excludes;
}

bool gloo_names(std::string_view setting, std::string_view nic) {
  return setting.empty() || ("," + std::string(setting) + ",").find("," + std::string(nic) + ",") != std::string::npos;
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "data address")};
  const auto address = expectation.value("address", "");
  const auto all = output.values("addr");
  if (all.empty()) return {unsure("the node's addresses are not known", output.first_line())};
  std::string nic;
  std::vector<std::string> held;
  for (const auto& line : all) {
    const auto words = split_blanks(line, 2);
    if (words.size() != 2) return {unsure("the list of addresses is not understood", line)};
    if (words[0] == address) nic = words[1].substr(0, words[1].find('@'));
    if (words[0] != "127.0.0.1" && words[0] != "::1") held.push_back(words[0] + " on " + words[1]);
  }
  if (nic.empty()) {
    return {bad("the node does not hold its data address " + address, address, some_of(held), "bring the data interface up on this node, or set data_address in the profile")};
  }
  if (nic == "?") return {good(address + " is local (interface not known: no ip command)")};
  const std::pair<std::string, bool> settings[] = {{"NCCL_SOCKET_IFNAME", nccl_names(expectation.value("nccl", ""), nic)},
                                                   {"GLOO_SOCKET_IFNAME", gloo_names(expectation.value("gloo", ""), nic)}};
  Findings findings;
  for (const auto& [name, matches] : settings) {
    if (matches) continue;
    std::string message = address;
    message += " is on an interface that " + name + " does not name";
    findings.push_back(bad(std::move(message), expectation.value(name == "NCCL_SOCKET_IFNAME" ? "nccl" : "gloo", ""), nic,
                           "set the node's nic in the profile to " + nic));
  }
  if (findings.empty()) findings.push_back(good(address + " is on " + nic));
  return findings;
}

}  // namespace

Check data_address_check() {
  return {.id = "data-address",
          .title = "data address on the data interface",
          .why = "ranks that meet on the wrong network hang in the rendezvous for ever",
          .remedy = "ip addr on this node",
          .source = "sglang.md 1.3, N4, N17; sglang#3226",
          .seconds = 10,
          .body = k_body,
          .probe = probe,
          .judge = judge};
}

}  // namespace sskj::checks
