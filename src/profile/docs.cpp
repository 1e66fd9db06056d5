// docs/profile.md from the schema table.
#include <fmt/format.h>

#include "sskj/profile/schema.hpp"

namespace sskj::profile {

namespace {

constexpr std::string_view k_head = R"md(# Profiles

<!-- Generated from the schema table (src/profile/schema.cpp, src/profile/docs.cpp). Do not edit: change the table and run the profile tests with SSKJ_ACCEPT=1. -->

A profile is the text from which sskj makes a deployment. There are two syntaxes with the same settings: the **env** form (`NAME.env`, one group, flat keys) and the
**YAML** form (`NAME.yaml`, one or more groups, nested keys). The extension tells which. `sskj profile lint` reports every fault at once, as `file:line:column`;
`sskj profile show --resolved` prints every setting with the place that decided it.

Precedence, strongest first: flag (`--set KEY=VALUE`), environment (`SSKJ_*`), profile, user file, default.

## Which profile

`-p NAME` is a path when it ends in `.env`, `.yaml` or `.yml` and is there, or begins with `/`, `./` or `../`. Otherwise `NAME.yaml`, `NAME.yml`, `NAME.env` are looked for in
`--profiles-dir`, the directories of `$SSKJ_PROFILES` (colon-separated), `./profiles`, the user's configuration directory (`~/.config/sskj/profiles`), and the
set that is built into the binary. Names may hold `/`.

A **short name** is a profile that holds nothing but `ALIAS_OF=NAME` (`alias_of: NAME`): a second name of the same deployment, with the same containers and the
same lock.

## The env form

A line is `KEY=value`, `export KEY=value`, a comment (`# ...`) or empty. What sskj accepts means the same to a POSIX shell; everything else is an error.

* No blank around `=`. A value ends at the first blank outside quotes; after it only a comment may follow (a blank, then `#`). `''` is the empty value.
* Unquoted, single-quoted and double-quoted parts may follow each other directly: `A=x'y z'"w"`.
* Unquoted: none of `; & | < > ( ) * ? ~ ! ` `` ` `` `\`, no blank, no quote.
* `'...'`: every byte as it is, newlines included.
* `"..."`: newlines included; the escapes are `\\`, `\"`, `\$`, `` \` `` and backslash-newline (joins the lines). Any other backslash is an error.
* `${NAME}`, unquoted or in double quotes, is a key set above it in the same file, or by `--set`. The environment is never read. There is no other expansion and no command
  substitution.
* A key may be set once. Lines end with LF or CRLF; a byte-order mark at the start is skipped. NUL, control characters, a lone CR and invalid UTF-8 are errors.
* `VAR_<NAME>=...` is a helper for `${VAR_<NAME>}` and no setting.

One env file is one group; its name is its `ROLE` (`server` when it has none). Word lists (`LAUNCH_ARGS`, `MOUNTS`, ...) are split as a POSIX shell splits words: quotes are
honoured inside the value, nothing is expanded. So an argument with a blank is written `LAUNCH_ARGS='--a "two words"'`.

```sh
# two nodes, one engine
NODES=10.0.0.[1-2]
IMAGE=lmsysorg/sglang:kimi-k3
MODEL_PATH=/data/hf_models/Kimi-K3
SERVED_MODEL=kimi-k3
LAUNCH_ARGS='
  --tp-size 16
  --trust-remote-code
'
ENV_NCCL_SOCKET_IFNAME=bond1
ARTIFACT_patch='source=file:fix.py target=/tmp/fix.py'
BOOTSTRAP='python3 /tmp/fix.py'
```

## The YAML form

One document, a map. Keys may be set once; anchors and aliases are expanded within bounds; tags and merge keys (`<<`) are refused. Values that stand for text may be written
plain: `1` and `true` are taken as they are written. `null` (`~`) takes a setting away that a base has set.

* `groups:` is a map by name, or a list whose items have a `name` or a `role`. A group's role is its name unless set.
* `nodes:` is a node set, or a list of node sets and maps.
* `extends: NAME` starts from another profile (env or YAML, at most 8 deep). Maps merge, everything else replaces; `name` and `description` are not inherited.
* `launch_args+:` (a list's key with `+`) appends instead of replacing.
* `variants:` are overlays of the same shape: `--variant NAME` lays them over the profile, in the order given.

```yaml
groups:
  server:
    nodes:
      - {host: 10.0.0.1, data_address: 192.168.7.1}
      - {host: 10.0.0.2, data_address: 192.168.7.2, nic: ens3}
    image: lmsysorg/sglang:kimi-k3
    model_path: /data/hf_models/Kimi-K3
    served_model: kimi-k3
    launch_args: [--tp-size=16, --trust-remote-code]
    env: {NCCL_SOCKET_IFNAME: bond1}
variants:
  debug:
    groups: {server: {env: {NCCL_DEBUG: INFO}}}
```

The JSON Schema is `docs/profile.schema.json`; editors use it with the line `# yaml-language-server: $schema=profile.schema.json`.

## Secrets

A secret is given by reference only: `from_env:NAME` or `from_file:PATH`, both on the machine where sskj runs. A literal is an error, and is not repeated in the message. The value
travels as a file of mode 0600 below `state_dir`, is mounted read-only into the container, and reaches SGLang through its `--config` option; it is on no command line, in
no plan, log or JSON of sskj. It must be 1 to 512 printable ASCII characters without blanks, quotes and backslashes, and not start with `-`. SGLang itself prints its arguments, the key included, as the first line of
its log: whoever may read `docker logs` on a node can read it (sgl-project/sglang#37457).

## Artifacts

An artifact is a file that must be on every node: `ARTIFACT_<NAME>='source=... target=... sha256=... mode=... path=...'`, or an entry of `artifacts:`. Its source is
`file:PATH` (relative to the profile's directory), `embedded:NAME` (inside the binary), `node:/PATH` (on the first node) or `node:HOST:/PATH`. On every node it lies at
`<state_dir>/artifacts/<sha256>/<file name>`, or at `path` when that is set; from a node without a `sha256` at `<state_dir>/artifacts/unpinned/<deployment>/<name>/`.
With a `target` it is mounted read-only there.

## What sskj adds

To the engine's arguments of role `server`: `--model-path`, `--served-model-name`, `--host`, `--port`, `--nnodes`, `--node-rank`, and with more than one node `--dist-init-addr` (rank 0's data
address). Where `launch_args` hold one of them already it must agree. To the environment: `SGLANG_HOST_IP` (the node's data address) unless it is set. To the mounts: the model directory,
read-only at the same path, unless the profile mounts something there.
With `bootstrap` the container runs `bash -c '<bootstrap> && exec "$@"' sskj <engine arguments>`.
)md";

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? std::string() : fmt::format("`{}`", cell(text)); }

// "groups.*.nodes.*.host" below its scope: "host".
std::string_view short_path(const Row& row) {
  std::string_view path = row.path;
  constexpr std::string_view k_prefixes[] = {"groups.*.nodes.*.", "groups.*.", "artifacts.*."};
  for (const std::string_view prefix : k_prefixes) {
    if (path.starts_with(prefix)) {
      path.remove_prefix(prefix.size());
      break;
    }
  }
  return path;
}

void section(std::string& out, Scope scope, std::string_view title, std::string_view note) {
  out += fmt::format("\n## {}\n\n{}\n\n| YAML | env | type | default | meaning | example |\n|---|---|---|---|---|---|\n", title, note);
  for (const Row& row : schema()) {
    if (row.scope == scope) {
      out += fmt::format("| {} | {} | {} | {} | {} Accepted: {}. | {} |\n", code(short_path(row)), row.env_key.empty() ? "" : code(row.env_key), to_string(row.type),
                         code(row.default_text), cell(row.doc), cell(describe(row)), code(row.example));
    }
  }
}

}  // namespace

std::string profile_markdown() {
  std::string out(k_head);
  section(out, Scope::deployment, "Settings of the deployment", "At the top level.");
  section(out, Scope::group, "Settings of a group", "Below `groups.<name>`.");
  section(out, Scope::node, "Settings of a node", "Below an item of `nodes`; in the env form `#` is the rank, counted from 0.");
  section(out, Scope::artifact, "Settings of an artifact", "Below `artifacts.<name>`; in the env form words of `ARTIFACT_<NAME>`.");
  return out;
}

}  // namespace sskj::profile
