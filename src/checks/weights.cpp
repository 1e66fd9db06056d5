// The weights are complete: every shard that the index names is there, its safetensors header is whole, and its size is what the header says.
//
// Engines up to 0.5.16 skip a missing shard in silence and serve garbage; a truncated one fails after minutes (sglang.md F4, F5). 1.5 TB are not hashed here: the
// header alone tells a shard's exact size.
#include <charconv>

#include "rows.hpp"

namespace sskj::checks {
namespace {

// Header: 8 bytes little-endian length, then JSON whose largest data_offsets end is the size of the data behind it. Sizes and lengths of all shards are read by
// one stat, head and od (all supported nodes are little-endian), each header by one dd that reads no more than it, and one awk finds the largest ends: 96 shards
// cost some hundred processes, not a thousand. A header over 100 MB is refused by safetensors itself. Lines to awk that begin with \036 are ours: "f" is a fault
// found before, "h NAME SIZE LENGTH" begins a header, "u" says that this header could not be read to its end.
constexpr std::string_view k_body = R"sh(
headers() {
  sized=$(printf '%s\n' $there | xargs stat -L -c '%s %n' -- 2>/dev/null)
  big=$(printf '%s\n' "$sized" | awk '$1 >= 8 { print $2 }')
  lengths=$(printf '%s\n' $big | xargs head -q -c 8 -- 2>/dev/null | od -An -v -w8 -tu8)
  set -- $lengths
  number=0; for shard in $big; do number=$((number+1)); done
  if [ $# -ne "$number" ]; then # one of them cannot be read: each by itself then
    lengths=$(for shard in $big; do length=$(od -An -N8 -tu8 -- "$shard" 2>/dev/null); echo ${length:-none}; done)
    set -- $lengths
  fi
  for shard in $there; do
    case "
$sized
" in *" $shard
"*) ;; *) printf '\036f unreadable %s\n' "$shard";; esac
  done
  printf '%s\n' "$sized" | while read -r size shard; do
    [ -n "$shard" ] || continue
    if [ "$size" -lt 8 ]; then printf '\036f short %s 8 %s\n' "$shard" "$size"; continue; fi
    length=$1; shift
    if [ "$length" = none ]; then printf '\036f unreadable %s\n' "$shard"
    elif [ "${#length}" -gt 9 ] || [ "$length" -gt 100000000 ]; then printf '\036f badheader %s its length is %s\n' "$shard" "$length"
    elif [ "$size" -lt $((8+length)) ]; then printf '\036f short %s %s %s\n' "$shard" $((8+length)) "$size"
    else
      printf '\036h %s %s %s\n' "$shard" "$size" "$length"
      dd if="./$shard" bs=1M iflag=skip_bytes,count_bytes skip=8 count="$length" status=none 2>/dev/null || printf '\n\036u'
      echo
    fi
  done
}
# The newline that ends a header makes one blank line more than the two that its last two braces leave.
judge_headers() {
  tr '}' '\n' | awk -v whole="$whole" '
    function finish() {
      if (name == "") return
      gsub(/[ \t\r]/, "", last); gsub(/[ \t\r]/, "", before)
      want = 8 + length_ + max
      if (broken || n == 0 || n != d || last != "" || before != "") { print "badheader " name " it is not safetensors JSON"; whole = 0 }
      else {
        if (size < want) { printf "short %s %.0f %.0f\n", name, want, size; whole = 0 }
        if (want < size) { printf "long %s %.0f %.0f\n", name, want, size; whole = 0 }
        sum += max
      }
      name = ""
    }
    substr($0, 1, 2) == "\036f" { finish(); print substr($0, 4); whole = 0; next }
    substr($0, 1, 2) == "\036u" { if (name != "") print "unreadable " name; name = ""; whole = 0; next }
    substr($0, 1, 2) == "\036h" { finish(); name = $2; size = $3 + 0; length_ = $4 + 0; n = d = max = broken = 0; first = 1; last = before = ""; next }
    {
      if (first) { first = 0; if (substr($0, 1, 1) != "{") broken = 1 }
      if (match($0, /"data_offsets"[ ]*:[ ]*\[[ ]*[0-9]+[ ]*,[ ]*[0-9]+[ ]*\]/)) {
        n++; s = substr($0, RSTART, RLENGTH); sub(/.*,/, "", s); sub(/[^0-9].*/, "", s); s += 0; if (max < s) max = s }
      if ($0 ~ /"dtype"/) d++
      before = last; last = $0
    }
    END { finish(); printf "sum %d %.0f\n", whole, sum }'
}
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
  count=0; whole=1; there=
  for shard in $shards; do
    case $shard in */*|*[!A-Za-z0-9._-]*) echo "badname $shard"; whole=0; continue;; esac
    count=$((count+1))
    if [ ! -e "$dir/$shard" ]; then echo "missing $shard"; whole=0; else there="$there $shard"; fi
  done
  judged=$(cd "$dir" && headers | judge_headers)
  printf '%s\n' "$judged" | grep -v '^sum '
  case $judged in *"sum 1 "*) sum=${judged##*sum 1 };; *) whole=0;; esac
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

constexpr Agreement k_agreements[] = {{"weights-bytes", "the size of the weights", Errc::integrity, "copy the weights again from the node that is right"}};

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
          .facts = facts,
          .agreements = k_agreements};
}

}  // namespace sskj::checks
