// Every script of every verb: parses in the shells that nodes have, and quotes what it was given.
#include <gtest/gtest.h>

#include <set>

#include "fixture.hpp"
#include "script.hpp"
#include "shell_text.hpp"
#include "support/shell.hpp"

namespace sskj::recipes {
namespace {

using ::sskj::testing::run_command;
using ::sskj::testing::run_script;

std::set<std::string> scripts_of(const deploy::Deployment& deployment) {
  std::set<std::string> scripts;
  const auto take = [&](const std::vector<plan::Step>& steps) {
    for (const auto& step : steps) {
      if (auto script = plan::script_of(step); !script.empty()) scripts.insert(std::move(script));
    }
  };
  for (const auto& recipe : recipes()) {
    const auto plan = testing::plan_of(std::string(recipe.verb), deployment);
    for (const auto* stages : {&plan.stages, &plan.always}) {
      for (const auto& stage : *stages) {
        take(stage.steps);
        take(stage.watch);
        take(stage.undo);
      }
    }
  }
  return scripts;
}

TEST(Scripts, All_parse_in_the_shells_of_nodes) {
  Request request;
  request.verb = "stop";
  request.pattern = "kimi3*";
  const auto force = make_force_stop_plan({{"h1", {}, ""}}, request);
  auto scripts = scripts_of(testing::shipped());
  scripts.insert(plan::script_of(force->stages[0].steps[0]));
  EXPECT_GT(scripts.size(), 20U);
  const ::sskj::testing::TempDir temp;
  const auto file = temp.path() / "script";
  for (const auto& script : scripts) {
    ::sskj::testing::write_file(file, script);
    for (const char* shell : {"sh", "dash", "bash"}) EXPECT_EQ(run_command(std::string(shell) + " -n " + file.string()).out, "") << shell << "\n" << script.substr(0, 200);
  }
}

TEST(Scripts, Shellcheck_has_nothing_to_say) {
  if (run_command("command -v shellcheck").status != 0) GTEST_SKIP() << "shellcheck is not installed: apt-get install shellcheck";
  // Variables come from the assignments on top; lists are split on purpose; A && B || C is used knowingly.
  const auto said = run_command("shellcheck -s sh -e SC2154,SC2034,SC2086,SC2015,SC2317,SC2329 " + std::string(SSKJ_SOURCE_DIR) + "/src/recipes/shell/*.sh");
  EXPECT_EQ(said.status, 0) << said.out;
}

TEST(Scripts, Values_arrive_unharmed) {
  const std::vector<std::string> awkward = {"", " two  blanks ", "it's", "say \"x\"", "$HOME ${PATH}", "`id` $(id)", "a; rm -rf /nowhere", "{{.Names}} %s", "Größe 大小", "first\nsecond", "\\n \\\\", "-n", "*"};
  for (const auto& value : awkward) {
    for (const char* shell : {"sh", "dash", "bash"}) {
      EXPECT_EQ(run_script(Script("test").set("value", value).with({"printf '%s|' \"$value\""}), "", shell).out, value + "|");
    }
  }
}

TEST(Scripts, A_list_is_one_item_a_line) {
  const std::vector<std::string> items = {"/a b", "/c"};
  const auto script = Script("test").list("items", items).with({sh::k_common, "each \"$items\" | while IFS= read -r one; do printf '<%s>' \"$one\"; done"});
  EXPECT_EQ(run_script(script).out, "</a b></c>");
}

TEST(Digests, Of_files_on_the_node_are_told_with_what_is_missing) {
  const ::sskj::testing::TempDir temp;
  const auto file = temp.path() / "a file";
  ::sskj::testing::write_file(file, "hello\n");
  const std::vector<std::string> paths = {file.string(), "/no/such", temp.path().string()};
  const auto ran = run_script(Script("test").list("paths", paths).with({sh::k_common, sh::k_digests}));
  EXPECT_EQ(ran.out, "sha256 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 " + file.string() + "\nmissing /no/such\nstrange " + temp.path().string() + "\nend\n");
}

}  // namespace
}  // namespace sskj::recipes
