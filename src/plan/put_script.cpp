// The script of a PutFile: constant but for path, mode and sha256.
#include <fmt/format.h>

#include "sskj/core/sha256.hpp"
#include "sskj/core/shell.hpp"
#include "sskj/plan/plan.hpp"

namespace sskj::plan {
namespace {

// The bytes always travel, one exec whatever the node holds; an equal file reads them to the end so that no sender meets a closed pipe.
// mktemp gives 0600 from the first byte on. A cut connection ends `cat` early, just as an end of file does: only the sha256 tells them apart.
constexpr std::string_view k_body = R"sh(dir=${path%/*}
base=${path##*/}
if [ -d "$path" ]; then
  echo "$path is a directory, expected a file" >&2
  exit 1
fi
has() {
  [ -f "$path" ] && [ ! -L "$path" ] && [ "$(stat -c %a -- "$path")" = "$mode" ] && [ "$(sha256sum <"$path")" = "$want  -" ]
}
if has; then
  cat >/dev/null
  echo 'sskj: unchanged'
  exit 0
fi
umask 022
mkdir -p -- "$dir/"
umask 077
rm -f -- "$dir/.$base.sskj-put."??????
temporary=$(mktemp "$dir/.$base.sskj-put.XXXXXX")
trap 'rm -f -- "$temporary"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
cat >"$temporary"
got=$(sha256sum <"$temporary")
if [ "$got" != "$want  -" ]; then
  echo "$path: what arrived has not the sha256 of what was sent" >&2
  exit 65
fi
chmod "$mode" "$temporary"
mv -f -- "$temporary" "$path"
trap - EXIT
echo 'sskj: changed'
)sh";

}  // namespace

std::string put_script(const PutFile& put) {
  const bool secret = std::holds_alternative<SecretRef>(put.content);
  return fmt::format("set -eu\npath={}\nmode={:o}\n{}\n{}", shell::quote(put.path), put.mode,
                     secret ? std::string("IFS= read -r want") : "want=" + shell::quote(put.sha256), k_body);
}

std::string put_input(const PutFile& put, std::string_view content) {
  std::string input;
  if (std::holds_alternative<SecretRef>(put.content)) input = sha256_hex(content) + "\n";
  return input.append(content);
}

}  // namespace sskj::plan
