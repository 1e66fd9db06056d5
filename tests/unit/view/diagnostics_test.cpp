#include "sskj/view/diagnostics.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "streams.hpp"

namespace sskj::view {
namespace {

using nlohmann::json;

const Diagnostics k_diagnostics{{Severity::error, "unknown-key", "unknown key IMAGEE", "did you mean IMAGE?", {"bad.env", 2, 1}, ""},
                                {Severity::warning, "lint.nccl-algo-set", "NCCL_ALGO is set", "", {"bad.env", 7, 0}, "manual section 9"},
                                {Severity::note, "", "evil \x1b[2J", "", {}, ""}};

TEST(Diagnostics, Name_file_line_column_hint_and_reference) {
  EXPECT_EQ(diagnostics_text(k_diagnostics, false),
            "bad.env:2:1: error: unknown key IMAGEE [unknown-key]\n"
            "  hint: did you mean IMAGE?\n"
            "bad.env:7: warning: NCCL_ALGO is set [lint.nccl-algo-set]\n"
            "  see: manual section 9\n"
            "note: evil \\x1b[2J\n"
            "1 error, 1 warning\n");
  EXPECT_EQ(diagnostics_text({}, false), "");
}

TEST(Diagnostics, Are_coloured_only_where_colour_is_wanted) {
  EXPECT_NE(diagnostics_text(k_diagnostics, true).find("\x1b[31merror\x1b[0m"), std::string::npos);
  EXPECT_EQ(diagnostics_text(k_diagnostics, false).find('\x1b'), std::string::npos);
}

TEST(Diagnostics, Have_a_json_form_with_counts) {
  const json document = json::parse(diagnostics_json(k_diagnostics));
  EXPECT_EQ(document["errors"], 1);
  EXPECT_EQ(document["warnings"], 1);
  EXPECT_EQ(document["diagnostics"][0]["line"], 2);
  EXPECT_EQ(document["diagnostics"][1]["reference"], "manual section 9");
}

TEST(Diagnostics, Go_to_stdout_only_when_they_are_the_answer) {
  Streams answer;
  show_diagnostics(answer.output, {}, k_diagnostics, true);
  EXPECT_FALSE(answer.out.empty());
  EXPECT_TRUE(answer.err.empty());
  Streams aside;
  show_diagnostics(aside.output, {}, k_diagnostics, false);
  EXPECT_TRUE(aside.out.empty());
  EXPECT_FALSE(aside.err.empty());
}

TEST(Errors, Say_what_and_what_next) {
  const Error error{Errc::profile, "no profile named kimi3_tp32ep23", "did you mean kimi3_tp32ep32?"};
  EXPECT_EQ(error_text(error, false), "error: no profile named kimi3_tp32ep23\n  next: did you mean kimi3_tp32ep32?\n");
  Streams text;
  show_error(text.output, {}, error);
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(text.err, error_text(error, false));
}

TEST(Errors, Are_one_json_document_with_the_exit_code_when_json_is_asked_for) {
  Options options;
  options.format = Format::json;
  Streams streams;
  show_error(streams.output, options, {Errc::locked, "held by ops1", ""}, k_diagnostics, "start");
  const json document = json::parse(streams.out);
  EXPECT_EQ(document["exit_code"], 6);
  EXPECT_EQ(document["error"]["category"], "locked");
  EXPECT_EQ(document["verb"], "start");
  EXPECT_EQ(document["diagnostics"].size(), 3U);
  EXPECT_EQ(streams.err, "");
  options.format = Format::ndjson;
  Streams line;
  show_error(line.output, options, {Errc::locked, "held by ops1", ""});
  EXPECT_EQ(std::count(line.out.begin(), line.out.end(), '\n'), 1);
}

TEST(Errors, Every_category_has_the_exit_code_that_core_gives_it) {
  for (int code = 0; code <= static_cast<int>(Errc::internal); ++code) {
    const Error error{static_cast<Errc>(code), "m", ""};
    EXPECT_EQ(json::parse(error_json(error, {}, ""))["exit_code"], static_cast<int>(exit_code_of(error.code)));
  }
}

}  // namespace
}  // namespace sskj::view
