// The weights are complete: every shard that the index names is there, its safetensors header is whole, and its size is what the header says.
//
// Engines up to 0.5.16 skip a missing shard in silence and serve garbage; a truncated one fails after minutes (sglang.md F4, F5). 1.5 TB are not hashed here: the
// header alone tells a shard's exact size.
#include <charconv>

#include "rows.hpp"

namespace sskj::checks {
namespace {

// Header: 8 bytes little-endian length, then JSON whose largest data_offsets end is the size of the data behind it. `od` gives the length (all supported nodes are
// little-endian), `tail | head` reads no more than the header, awk finds the largest end. A header over 100 MB is refused by safetensors itself.
constexpr std::string_view k_body = R"sh(
printf '%s\n' "$models" | while IFS= read -r dir; do
  echo "model $dir"
  [ -d "$dir" ] || { echo "nodir $dir"; continue; }
  [ -r "$dir/config.json" ] && head -c 1 "$dir/config.json" | grep -q '{' && echo "config $dir"
  index=$dir/model.safetensors.index.json
  if [ -r "$index" ]; then
    shards=$(tr ',{}' '\n\n\n' < "$index" | sed -n 's/.*:[[:space:]]*"\([^"]*\.safetensors\)".*/\1/p' | awk '!seen[$0]++')
    total=$(tr ',{}' '\n\n\n' < "$index" | sed -n 's/.*"total_size"[[:space:]]*:[[:space:]]*\([0-9][0-9]*\).*/\1/p' | head -n 1)
  elif [ -e "$index" ]; then
    echo "unreadable model.safetensors.index.json"; continue
  elif [ -e "$dir/model.safetensors" ]; then
    shards=model.safetensors; total=
  else
    echo "noindex $dir"; continue
  fi
  [ -n "$shards" ] || { echo "emptyindex $dir"; continue; }
  sum=0; count=0; whole=1
  for shard in $shards; do
    case $shard in */*|*[!A-Za-z0-9._-]*) echo "badname $shard"; whole=0; continue;; esac
    count=$((count+1)); file=$dir/$shard
    if [ ! -e "$file" ]; then echo "missing $shard"; whole=0; continue; fi
    size=$(stat -L -c %s "$file" 2>/dev/null); length=$(od -An -N8 -tu8 "$file" 2>/dev/null | tr -d ' ')
    if [ -z "$size" ] || { [ -z "$length" ] && [ "$size" -ge 8 ]; }; then echo "unreadable $shard"; whole=0; continue; fi
    if [ "$size" -lt 8 ]; then echo "short $shard 8 $size"; whole=0; continue; fi
    if [ "${#length}" -gt 9 ] || [ "$length" -gt 100000000 ]; then echo "badheader $shard its length is $length"; whole=0; continue; fi
    if [ "$size" -lt $((8+length)) ]; then echo "short $shard $((8+length)) $size"; whole=0; continue; fi
    found=$(tail -c +9 "$file" 2>/dev/null | head -c "$length" | tr '}' '\n' | awk '
      NR == 1 { if (substr($0, 1, 1) != "{") broken = 1 }
      { if (match($0, /"data_offsets"[ ]*:[ ]*\[[ ]*[0-9]+[ ]*,[ ]*[0-9]+[ ]*\]/)) {
          n++; s = substr($0, RSTART, RLENGTH); sub(/.*,/, "", s); sub(/[^0-9].*/, "", s); s += 0; if (max < s) max = s }
        if ($0 ~ /"dtype"/) d++
        last = $0 }
      END { gsub(/[ \t\r\n]/, "", last); if (broken || n == 0 || n != d || last != "") print "broken"; else printf "%.0f\n", max }')
    case $found in ''|*[!0-9]*) echo "badheader $shard it is not safetensors JSON"; whole=0; continue;; esac
    want=$((8+length+found))
    if [ "$size" -lt "$want" ]; then echo "short $shard $want $size"; whole=0; elif [ "$size" -gt "$want" ]; then echo "long $shard $want $size"; whole=0; fi
    sum=$((sum+found))
  done
  for file in "$dir"/*.safetensors; do
    [ -e "$file" ] || continue
    case "
$shards
" in *"
${file##*/}
"*) ;; *) echo "extra ${file##*/}";; esac
  done
  echo "shards $count $dir"
  [ "$whole" = 1 ] && echo "bytes $sum ${total:-none} $dir"
done
echo end
)sh";

std::optional<Probe> probe(const NodeView& view) {
  std::vector<std::string> models;
  for (const auto& on : view.ranks) {
    if (!on.group->model_path.empty()) models.push_back(on.group->model_path);
  }
  models = unique(models);
  if (models.empty()) return std::nullopt;
  const auto& skip = view.ranks.front().group->preflight.skip;
  const bool total = std::find(skip.begin(), skip.end(), "weights-total") == skip.end();
  return Probe{{{"models", lines(models)}}, Json{{"models", models}, {"total", total}}.dump()};
}

struct Fault {
  std::string_view key, message, expected;
  FindingStatus status = FindingStatus::fail;
};
constexpr Fault k_faults[] = {
    {"nodir", "the model directory does not exist", "a directory"},
    {"noindex", "the model directory holds no model.safetensors.index.json", "an index or model.safetensors"},
    {"emptyindex", "the weights index names no shard", "shards in weight_map"},
    {"badname", "the weights index names a file outside its directory", "plain file names"},
    {"missing", "shards named in the index are missing", "every shard of the index"},
    {"short", "shards are truncated", "the size that the shard's own header gives"},
    {"long", "shards are longer than their header says", "the size that the shard's own header gives"},
    {"badheader", "shards have a broken safetensors header", "a safetensors header"},
    {"unreadable", "weights cannot be read", "readable files", FindingStatus::unknown},
    {"extra", "files that the index does not name lie beside the shards", "only the shards of the index", FindingStatus::warn},
};

/// "NAME WANT HAVE" -> "NAME (HAVE of WANT bytes)"; other texts as they are.
std::string sized(std::string_view key, const std::string& line) {
  const auto words = split_blanks(line, 3);
  if ((key != "short" && key != "long") || words.size() != 3) return line;
  return words[0] + " (" + words[2] + " bytes, expected " + words[1] + ")";
}

void judge_total(const Output& output, Findings& findings) {
  for (const auto& line : output.values("bytes")) {
    const auto words = split_blanks(line, 3);
    if (words.size() != 3) {
      findings.push_back(unsure("the sum of the shards is not understood", line));
    } else if (words[1] != "none" && words[0] != words[1]) {
      auto found = bad("the shards do not add up to the index's total_size", words[1] + " bytes", words[0] + " bytes",
                       "index and shards are of different revisions: copy the directory again (skip with preflight skip weights-total)");
      found.check = "weights-total";
      found.failure = Errc::integrity;
      findings.push_back(std::move(found));
    }
  }
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "weights")};
  Findings findings;
  for (const auto& fault : k_faults) {
    std::vector<std::string> named;
    for (const auto& line : output.values(fault.key)) named.push_back(text::printable(sized(fault.key, line)));
    if (named.empty()) continue;
    findings.push_back(finding(fault.status, std::string(fault.message), std::string(fault.expected), some_of(named)));
  }
  const auto blocked = std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.status != FindingStatus::warn; });
  if (expectation.value("total", true)) judge_total(output, findings);
  const auto models = expectation.value("models", std::vector<std::string>{});
  const auto configs = output.values("config");
  for (const auto& model : models) {
    const auto nodir = output.values("nodir");
    if (std::find(nodir.begin(), nodir.end(), model) != nodir.end()) continue;
    if (std::find(configs.begin(), configs.end(), model) == configs.end()) findings.push_back(bad("config.json is missing or is not JSON", model + "/config.json", "none"));
  }
  if (!blocked && output.values("bytes").size() != models.size()) findings.push_back(unsure("not every model directory was looked at", output.first_line()));
  if (findings.empty()) findings.push_back(good("weights are complete: " + output.value("shards").value_or("")));
  return findings;
}

std::vector<Fact> facts(const Output& output) {
  std::vector<Fact> all;
  for (const auto& line : output.values("bytes")) {
    const auto words = split_blanks(line, 3);
    if (words.size() == 3) all.push_back({"weights-bytes " + words[2], words[0]});
  }
  return all;
}

}  // namespace

Check weights_check() {
  return {.id = "weights",
          .title = "weights complete",
          .why = "a missing shard is skipped in silence by older engines and a truncated one fails after minutes of loading",
          .remedy = "copy the named files again from a node that has them whole",
          .source = "sglang.md F3-F5, F7; gpustack#815, verl#2752; safetensors format",
          .seconds = 120,
          .body = k_body,
          .probe = probe,
          .judge = judge,
          .facts = facts};
}

}  // namespace sskj::checks
