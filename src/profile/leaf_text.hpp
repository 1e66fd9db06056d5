// Predicates on texts: pure, no diagnostics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sskj::profile {

bool is_line(std::string_view text);        ///< no control characters
bool is_name(std::string_view text);        ///< deployment, group, role
bool is_host(std::string_view text);
bool is_address(std::string_view text);     ///< numeric IPv4 or IPv6
bool is_word(std::string_view text);
bool is_absolute_path(std::string_view text);
bool is_sha256(std::string_view text);
bool is_variable(std::string_view text);    ///< [A-Za-z_][A-Za-z0-9_]*
bool is_secret_reference(std::string_view text);
bool is_artifact_source(std::string_view text);
std::optional<std::uint64_t> to_number(std::string_view text, int base = 10);
std::optional<std::int64_t> to_signed(std::string_view text);
std::optional<bool> to_boolean(std::string_view text);

}  // namespace sskj::profile
