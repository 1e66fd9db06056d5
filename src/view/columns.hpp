// Text in terminal columns: width, cutting, padding, tables, colour. All pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sskj::view {

/// Columns that valid UTF-8 without control characters takes: wide East Asian characters and emoji two, combining marks none.
std::size_t columns(std::string_view text);

/// At most `limit` columns; a cut is marked by "…".
std::string cut(std::string_view text, std::size_t limit);

/// Cut to `width` and padded on the right with blanks.
std::string pad(std::string_view text, std::size_t width);

/// Rows as aligned columns, two blanks apart, no blanks at line ends; every cell goes through text::printable.
std::string table(const std::vector<std::vector<std::string>>& rows, std::string_view indent = "");

enum class Tone { plain, good, warn, bad, dim, bold };

/// `text` in a colour when `color`, else unchanged.
std::string paint(Tone tone, std::string_view text, bool color);

/// `1m03s`, `42s`, `1h02m`: whole seconds, for people.
std::string clock_text(std::int64_t milliseconds);

/// One line of remote bytes: what stands after the last carriage return (a progress bar's last state), made printable and cut to `limit` bytes.
std::string remote_line(std::string_view bytes, std::size_t limit = 4096);

/// Lines of remote bytes, each through remote_line().
std::vector<std::string> remote_lines(std::string_view bytes, std::size_t limit = 4096);

/// The last `count` non-empty lines, each at most `limit` bytes.
std::vector<std::string> last_lines(std::string_view bytes, std::size_t count, std::size_t limit = 300);

/// "1 node", "3 nodes".
std::string counted(std::size_t count, std::string_view noun);

}  // namespace sskj::view
