// Log lines of tests/data/logs/lines.json: phases, fatal signatures, and what must say nothing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "fixture.hpp"
#include "sskj/recipes/drivers.hpp"

namespace sskj::recipes {
namespace {

class Lines : public ::testing::Test {
 protected:
  Lines() : lines_(nlohmann::json::parse(deploy::testing::read_file(std::string(SSKJ_SOURCE_DIR) + "/tests/data/logs/lines.json").value())) {
    step_.id = "start.log.n5";
    step_.node = "n5";
  }
  std::optional<run::Phase> read(const std::string& line) const { return drivers_.line_matcher(step_, line); }

  nlohmann::json lines_;
  run::Drivers drivers_ = drivers();
  plan::Step step_;
};

TEST_F(Lines, Phases_are_recognised_with_their_counts) {
  for (const auto& row : lines_["phases"]) {
    drivers_ = drivers();  // another start of the container
    const auto phase = read(row["line"]);
    ASSERT_TRUE(phase) << row["line"];
    EXPECT_EQ(phase->name, row["phase"]) << row["line"];
    EXPECT_EQ(phase->done, row["done"].get<std::size_t>()) << row["line"];
    EXPECT_EQ(phase->total, row["total"].get<std::size_t>()) << row["line"];
    EXPECT_FALSE(phase->fatal) << row["line"];
    EXPECT_EQ(phase->node, "n5");
    EXPECT_EQ(phase->step, "start.log.n5");
  }
}

TEST_F(Lines, Fatal_signatures_name_cause_and_hint) {
  for (const auto& row : lines_["fatal"]) {
    const auto phase = read(row["line"]);
    ASSERT_TRUE(phase) << row["line"];
    EXPECT_TRUE(phase->fatal) << row["line"];
    EXPECT_TRUE(phase->cause.ends_with("[" + row["id"].get<std::string>() + "]")) << phase->cause << ": " << row["line"];
    EXPECT_FALSE(phase->cause.empty());
    EXPECT_FALSE(phase->hint.empty());
    EXPECT_FALSE(phase->line.empty());
  }
}

TEST_F(Lines, A_fatal_line_is_told_with_the_phase_of_its_own_log) {
  const std::string fatal = "torch.OutOfMemoryError: CUDA out of memory.";
  EXPECT_EQ(read(fatal)->name, "init");
  read("[2026-08-20 10:00:00 TP3 EP3] Load weight begin. avail mem=83.62 GB");
  EXPECT_EQ(read(fatal)->name, "weights");
  step_.id = "start.log.n6";
  EXPECT_EQ(read(fatal)->name, "init");
}

TEST_F(Lines, A_rank_does_not_step_back_because_its_workers_share_one_log) {
  const auto shown = [this](const std::string& line) -> std::string {
    const auto phase = read(line);
    return !phase ? "" : phase->total == 0 ? phase->name : phase->name + " " + std::to_string(phase->done) + "/" + std::to_string(phase->total);
  };
  const auto shards = [](int done, int total) { return "Multi-thread loading shards:  38% Completed | " + std::to_string(done) + "/" + std::to_string(total) + " [01:12<01:55]"; };
  EXPECT_EQ(shown("server_args=ServerArgs(model_path='/m')"), "init");
  EXPECT_EQ(shown("[TP0] Load weight begin. avail mem=83.62 GB"), "weights");
  EXPECT_EQ(shown("[TP3] Init torch distributed ends. elapsed=12.31 s"), "") << "a slower worker";
  EXPECT_EQ(shown(shards(37, 96)), "weights 37/96");
  EXPECT_EQ(shown(shards(12, 96)), "") << "a slower worker's count";
  EXPECT_EQ(shown("[TP1] Load weight begin. avail mem=83.62 GB"), "") << "the count stays";
  EXPECT_EQ(shown(shards(37, 96)), "weights 37/96");
  EXPECT_EQ(shown(shards(1, 8)), "weights 1/8") << "another thing to load";
  EXPECT_EQ(shown("[TP0] KV Cache is allocated. dtype: torch.bfloat16"), "kv");
  EXPECT_EQ(shown(shards(8, 8)), "");
  EXPECT_EQ(read("torch.OutOfMemoryError: CUDA out of memory.")->name, "kv");
  step_.id = "start.log.n6";
  EXPECT_EQ(shown(shards(1, 96)), "weights 1/96") << "another rank has its own";
  step_.id = "start.log.n5";
  EXPECT_EQ(shown("server_args=ServerArgs(model_path='/m')"), "init") << "the container started anew";
  EXPECT_EQ(shown("[TP3] Init torch distributed begin."), "rendezvous");
}

TEST_F(Lines, Consequences_and_ordinary_lines_say_nothing) {
  for (const auto& line : lines_["silent"]) EXPECT_FALSE(read(line)) << line;
}

TEST_F(Lines, Every_fatal_signature_has_a_line_and_the_table_is_sound) {
  std::set<std::string> tested, ids;
  for (const auto& row : lines_["fatal"]) tested.insert(row["id"]);
  for (const auto& row : signatures()) {
    EXPECT_TRUE(ids.insert(std::string(row.id)).second) << row.id;
    if (!row.phase.empty()) continue;
    EXPECT_FALSE(row.cause.empty()) << row.id;
    EXPECT_FALSE(row.hint.empty()) << row.id;
    EXPECT_TRUE(tested.contains(std::string(row.id))) << row.id << " has no line in tests/data/logs/lines.json";
  }
}

TEST_F(Lines, Hostile_lines_are_bounded_and_printable) {
  const auto phase = read("CUDA out of memory \x1b[31m\xff" + std::string(100'000, 'x'));
  ASSERT_TRUE(phase);
  EXPECT_LT(phase->line.size(), 10'000U);
  EXPECT_EQ(phase->line.find('\x1b'), std::string::npos);
  EXPECT_FALSE(read(std::string(1 << 20, '(')));
  const auto huge = read("Multi-thread loading shards: 99999999999999999999999/1 ");
  if (huge) {
    EXPECT_EQ(huge->total, 0U);
  }
}

}  // namespace
}  // namespace sskj::recipes
