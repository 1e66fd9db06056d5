// Plan: what one verb will do, as data. Printable, JSON round-trippable, digestible; makes nothing and knows no profile.
//
// A plan depends on the profile and the command line alone. What only a run can know is the closed list of variables SSKJ_RUN, SSKJ_PLAN and
// SSKJ_SINCE, which the constant bootstrap sets on the node; scripts name them and the digest sees them unexpanded.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sskj/core/result.hpp"

namespace sskj::plan {

using Millis = std::chrono::milliseconds;

/// How a node is reached. Empty fields are left to ssh_config (`ssh -G`), then to the default. Precedence: flag > profile > ssh_config > default.
struct SshTarget {
  std::string host;                    ///< host name, address or ssh_config alias
  std::string user;
  std::uint16_t port = 0;              ///< 0 = unset
  std::string identity_file;
  std::string jump;                    ///< `user@host:port[,...]` as ssh -J; "none" switches ProxyJump off
  bool sudo = false;                   ///< run scripts through `sudo -n`
  bool operator==(const SshTarget&) const = default;
};

/// A machine that steps run on.
struct Node {
  std::string id;                      ///< the name shown everywhere (the host as the profile writes it); unique in a plan
  SshTarget ssh;
  std::string data_address;            ///< address on the data network; numeric
  bool operator==(const Node&) const = default;
};

/// A secret by reference: "from_env:NAME" or "from_file:PATH" on the operator's machine. Its value never enters a plan.
struct SecretRef {
  std::string ref;
  bool operator==(const SecretRef&) const = default;
};

/// Judgement of an outcome as data: the name of a pure function in the table that the composition root hands to the executor, and its expectation (canonical JSON).
struct Judgement {
  std::string judge;
  std::string expectation = "{}";
  bool operator==(const Judgement&) const = default;
};

/// Run a POSIX sh script on the node. The bytes are final; the transport adds only the constant bootstrap.
/// Exit 0 = ok. A mutating script prints its last line `sskj: changed` or `sskj: unchanged` and is safe to send twice.
/// Exit statuses 64..78 of ours are mapped by `exit_errc` below; any other is Errc::step_failed.
struct RunScript {
  std::string script;
  bool mutates = true;                 ///< false: read-only
  bool follow = false;                 ///< output is for the user line by line (logs -f, exec), no size cap, no deadline unless given
  bool engine_log = false;             ///< output is an engine's log: API keys in the spellings that engines print are masked in all that is reported of it
  bool operator==(const RunScript&) const = default;
};

/// Write a file on the node: to a temporary name, sha256-checked there, then renamed; `unchanged` when the file has that sha256 and mode already.
struct PutFile {
  std::string path;                    ///< absolute path on the node
  std::uint32_t mode = 0644;
  std::variant<std::string, SecretRef> content;  ///< final bytes, or a secret rendered through `secret_template`
  std::string secret_template;         ///< for SecretRef: text in which `{secret}` is replaced by the value
  std::string sha256;                  ///< of the final bytes; empty for a secret
  bool operator==(const PutFile&) const = default;
};

/// One HTTP request as the node itself would make it (through SSH direct-tcpip by default), repeated until it is judged ok or its deadline passes.
struct HttpProbe {
  std::string host = "127.0.0.1";      ///< as seen from the node
  std::uint16_t port = 0;
  std::string method = "GET";
  std::string target = "/health";
  std::string body;                    ///< sent with Content-Type: application/json when not empty
  std::optional<SecretRef> bearer;     ///< Authorization: Bearer <value>, resolved when sent
  Millis request_timeout{25'000};      ///< must exceed 20 s for SGLang's /health (sglang.md 2.1)
  Millis poll_every{0};                ///< 0 = ask once; else ask again after this pause until judged ok or the step's deadline passes
  Judgement verdict;                   ///< required: what answer is ok
  bool operator==(const HttpProbe&) const = default;
};

/// Run a read-only probe script and judge its output by data.
struct CheckNode {
  std::string script;
  Judgement verdict;
  bool operator==(const CheckNode&) const = default;
};

using Action = std::variant<RunScript, PutFile, HttpProbe, CheckNode>;

/// What a failed step means for the run.
enum class OnFailure {
  fail,      ///< the stage fails after its running steps ended; later stages do not run
  tolerate,  ///< the outcome is data for the stage's verdict; shown, not fatal
};

struct Step {
  std::string id;                      ///< unique in the plan, stable between runs, e.g. "start.run.174.1.60.5"
  std::string title;                   ///< what an operator would say, e.g. "start decode rank 1"
  std::string node;                    ///< Node::id
  Action action;
  Millis deadline{30'000};             ///< the whole step, connection included; 0 = none (follow only)
  OnFailure on_failure = OnFailure::fail;
  Errc failure = Errc::step_failed;    ///< category when the action itself fails (a script's own exit status may refine it)
  std::string hint;                    ///< the one next command, shown when it fails
  bool operator==(const Step&) const = default;
};

enum class Order { parallel, one_by_one };  ///< over nodes; the steps of one node run in list order either way

/// When a stage runs. After an untolerated failure only `always` and a matching `previous_failed` run; after an interrupt or the total deadline none does.
enum class OnlyIf {
  always,           ///< whatever became of the stages before
  previous_ok,      ///< no untolerated failure so far and, where `only_if_stage` names a stage, that one ran and ended ok
  previous_failed,  ///< something failed (the stage `only_if_stage` names, or any): the branch that replaces or explains it
};

/// A barrier: all its steps end before the next stage begins.
///
/// Failure inside a parallel stage: the failing node's remaining steps are skipped, the other nodes finish theirs (all faults are shown at once), polls end
/// (waiting for a failed stage is pointless). In a one_by_one stage the nodes not yet begun are skipped.
struct Stage {
  std::string id;                      ///< e.g. "preflight", "remove", "run", "ready"
  std::string title;
  std::vector<Step> steps;
  Order order = Order::parallel;
  std::vector<Step> watch;             ///< RunScript{follow} that lives as long as the stage: its lines go to the log matcher; its exit or a fatal signature fails the stage at once.
                                       ///< After a lost connection the same bytes run again and the output already seen is skipped, so the script replays from $SSKJ_SINCE
  std::optional<Judgement> verdict;    ///< over the outputs of all nodes (same image id, agreement, report)
  std::vector<Step> undo;              ///< run in reverse stage order when a later or this stage failed, for stages that began
  Millis deadline{0};                  ///< 0 = the sum its steps allow
  Millis no_progress{0};               ///< the stage fails when for so long no watch reported another phase or count; 0 = it may
  OnlyIf only_if = OnlyIf::previous_ok;
  std::string only_if_stage;           ///< id of an earlier stage that only_if looks at; empty = the run so far
  OnFailure on_failure = OnFailure::fail;  ///< tolerate: its failure is data for a later stage's only_if and neither ends the run nor sets the exit code
  std::vector<std::string> settles;    ///< ids of earlier stages whose undo is dropped once this stage ended ok (a group that is ready stays)
  bool operator==(const Stage&) const = default;
};

/// Small scripts that run on their node again and again while the plan holds something there: the heartbeat of a lock.
///
/// A node's script is first sent a second after a step of stage `stage` ended well on it, then every so often, until the stages of `always` begin. It is no step of the run: no event, no count.
/// Exit status 73 says that the hold is this run's no more, and ends the run (Errc::locked); a lost connection or any other end is left to the next beat.
struct Heartbeat {
  std::string stage;                   ///< id of the stage that takes hold
  Millis every{5'000};
  std::vector<Step> steps;             ///< RunScript, one a node
  bool operator==(const Heartbeat&) const = default;
};

struct Plan {
  int schema_version = 1;
  std::string verb;                    ///< "start", "stop", ...
  std::string deployment;              ///< canonical deployment name; empty for `exec` on bare hosts
  std::string profile;                 ///< as the user named it, for messages
  std::vector<Node> nodes;
  std::vector<Stage> stages;
  std::vector<SecretRef> redact;       ///< resolved at the start of a run only to mask their values in what is reported; one that cannot be resolved is told, and that is all
  std::vector<Stage> always;           ///< run at the end whatever happened (release the lock), their only_if aside; failures are reported
  Millis deadline{0};                  ///< total; 0 = none
  std::optional<Heartbeat> heartbeat;
  bool operator==(const Plan&) const = default;
};

/// Category of a script's exit status: 64 usage, 65 integrity, 66 preflight, 69 unreachable-service/not_ready, 73 locked, 124 timeout; else step_failed.
Errc exit_errc(int status);

/// Canonical JSON (sorted keys, 2-space indentation); secrets appear as references only.
std::string to_json(const Plan& plan);
/// Errors (Errc::usage) name the JSON path. plan_from_json(to_json(p)) == p.
Result<Plan> plan_from_json(std::string_view json);

/// The script a PutFile runs; its content is the script's stdin. Creates missing parent directories, writes a temporary name beside the target under umask
/// 077, compares the sha256 there, then renames; answers `sskj: changed|unchanged`; exit 65 when what arrived is not what was sent. For a secret the sha256 is
/// not in the script but the first line of the input (`put_input`), so it never appears in a plan.
std::string put_script(const PutFile& put);
/// The bytes a PutFile sends on stdin, for these final content bytes.
std::string put_input(const PutFile& put, std::string_view content);

/// The exact script bytes that a step sends to its node; empty for an HttpProbe.
std::string script_of(const Step& step);

/// sha256 of the canonical JSON.
std::string digest(const Plan& plan);

/// Limits that validate() and plan_from_json() enforce, in bytes.
inline constexpr std::size_t k_max_script = 64U << 10;    ///< the bootstrap holds the script in a shell variable (libssh2.md 6)
inline constexpr std::size_t k_max_content = 16U << 20;   ///< a PutFile is for small files; larger ones go through the relay
inline constexpr std::size_t k_max_plan_json = 64U << 20;

/// Structural faults (Errc::usage, the first one found): duplicate step, stage or node ids, unknown nodes, watch that is not a follow script, script over
/// 64 KiB, zero deadline where one is required, content that does not have its sha256, a secret readable by others, a request line that could be split.
Result<void> validate(const Plan& plan);

/// Numbered, human-readable text with each step's exact bytes: what `--dry-run` prints. `3.2` is the second step of the third stage; nodes that receive the
/// same bytes are folded. Script lines follow `| `, file content and request bodies `> `; a line with control or non-UTF-8 bytes follows `! ` with them and
/// backslashes escaped; `\ no newline at end` is said where it is so.
std::string to_text(const Plan& plan);
/// Exact bytes of one step, as to_text shows them and as verbose renderers repeat them.
std::string to_text(const Step& step);

}  // namespace sskj::plan
