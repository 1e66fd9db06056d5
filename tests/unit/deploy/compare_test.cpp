#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "load.hpp"
#include "sskj/deploy/spec.hpp"

namespace sskj::deploy {
namespace {

using namespace sskj::deploy::testing;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

const std::string k_inspect_data = std::string(SSKJ_SOURCE_DIR) + "/tests/data/inspect/";
constexpr const char* k_image_id = "sha256:3e78dd8e3b160ba4275c94aa5b2c30b5cd6e507cb224948452de79ec03031fda";

ContainerSpec recorded_spec() {
  const Built built = build_file(k_inspect_data + "profile.env");
  EXPECT_FALSE(has_errors(built.diagnostics)) << report(built.diagnostics);
  return built.deployment.groups.at(0).ranks.at(1).spec;
}

Json recorded() { return Json::parse(read_file(k_inspect_data + "container.json").value()); }
std::string image_env() { return read_file(k_inspect_data + "image_env.json").value(); }

std::vector<FieldDiff> diffs(const ContainerSpec& spec, const Json& inspect) {
  auto out = compare(spec, inspect.dump(), image_env(), k_image_id);
  EXPECT_TRUE(out.has_value()) << out.error().message;
  return out.value_or(std::vector<FieldDiff>{});
}

TEST(Compare, Real_inspect_of_a_profile_full_of_awkward_values_is_the_same) {
  for (const FieldDiff& diff : diffs(recorded_spec(), recorded())) {
    ADD_FAILURE() << diff.field << ": want '" << diff.want << "' have '" << diff.have << "'";
  }
}

TEST(Compare, Lists_equal_fields_on_demand) {
  const auto fields = compare_fields(recorded_spec(), recorded().dump(), image_env(), k_image_id);
  ASSERT_TRUE(fields.has_value());
  EXPECT_GT(fields->size(), 50U);
}

template <class Predicate>
void erase_if(Json& list, Predicate predicate) {
  Json kept = Json::array();
  std::copy_if(list.begin(), list.end(), std::back_inserter(kept), [&](const Json& item) { return !predicate(item); });
  list = kept;
}

void each(Json& list, const std::function<void(Json&)>& change, const char* key, const char* value) {
  for (Json& item : list) {
    if (item[key] == value) {
      change(item);
    }
  }
}

struct Edit {
  const char* name;
  std::function<void(Json&)> edit;
  const char* field;
  Change change;
};

class CompareEdit : public ::testing::TestWithParam<Edit> {};

TEST_P(CompareEdit, Reports_exactly_the_edited_field) {
  Json inspect = recorded();
  GetParam().edit(inspect[0]);
  const auto found = diffs(recorded_spec(), inspect);
  ASSERT_EQ(found.size(), 1U) << GetParam().name;
  EXPECT_EQ(found[0].field, GetParam().field);
  EXPECT_EQ(found[0].change, GetParam().change);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, CompareEdit,
    ::testing::Values(
        Edit{"image", [](Json& c) { c["Image"] = "sha256:other"; }, "image", Change::differs},
        Edit{"argv", [](Json& c) { c["Config"]["Cmd"][7] = "x"; }, "argv[7]", Change::differs},
        Edit{"argv longer", [](Json& c) { c["Config"]["Cmd"].push_back("--extra"); }, "argv[35]", Change::extra},
        Edit{"argv shorter", [](Json& c) { c["Config"]["Cmd"].erase(34); }, "argv[34]", Change::missing},
        Edit{"env added", [](Json& c) { c["Config"]["Env"].push_back("HTTP_PROXY=http://p"); }, "env.HTTP_PROXY", Change::extra},
        Edit{"env of the image gone", [](Json& c) { erase_if(c["Config"]["Env"], [](const Json& e) { return e == "IMAGE_OWN=a b"; }); }, "env.IMAGE_OWN",
             Change::missing},
        Edit{"mount gone", [](Json& c) { erase_if(c["Mounts"], [](const Json& m) { return m["Destination"] == "/odd"; }); }, "mounts./odd",
             Change::missing},
        Edit{"mount writable", [](Json& c) { each(c["Mounts"], [](Json& m) { m["RW"] = true; }, "Destination", "/odd"); }, "mounts./odd", Change::differs},
        Edit{"network", [](Json& c) { c["HostConfig"]["NetworkMode"] = "bridge"; }, "network", Change::differs},
        Edit{"shm", [](Json& c) { c["HostConfig"]["ShmSize"] = 67108864; }, "shm_size", Change::differs},
        Edit{"gpus", [](Json& c) { c["HostConfig"]["DeviceRequests"][0]["DeviceIDs"] = {"0"}; }, "gpus", Change::differs},
        Edit{"gpus none", [](Json& c) { c["HostConfig"]["DeviceRequests"] = nullptr; }, "gpus", Change::differs},
        Edit{"privileged", [](Json& c) { c["HostConfig"]["Privileged"] = true; }, "privileged", Change::differs},
        Edit{"init", [](Json& c) { c["HostConfig"].erase("Init"); }, "init", Change::differs},
        Edit{"restart", [](Json& c) { c["HostConfig"]["RestartPolicy"]["Name"] = "always"; }, "restart", Change::differs},
        Edit{"cap", [](Json& c) { c["HostConfig"]["CapAdd"] = nullptr; }, "cap_add.IPC_LOCK", Change::missing},
        Edit{"device", [](Json& c) { c["HostConfig"]["Devices"].erase(0); }, "devices./dev/null:/dev/null:rwm", Change::missing},
        Edit{"ulimit", [](Json& c) { each(c["HostConfig"]["Ulimits"], [](Json& u) { u["Hard"] = 5; }, "Name", "memlock"); }, "ulimits.memlock",
             Change::differs},
        Edit{"artifact", [](Json& c) { c["Config"]["Labels"]["sskj.artifacts"] = "fix=0"; }, "artifacts.fix", Change::differs},
        Edit{"rank label", [](Json& c) { c["Config"]["Labels"].erase("sskj.rank"); }, "labels.sskj.rank", Change::differs}),
    [](const auto& param) {
      std::string name = param.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Compare, Our_version_plan_and_run_do_not_matter) {
  Json inspect = recorded();
  for (const char* label : {"sskj.version", "sskj.plan", "sskj.run"}) {
    inspect[0]["Config"]["Labels"][label] = "other";
  }
  EXPECT_TRUE(diffs(recorded_spec(), inspect).empty());
}

TEST(Compare, Volumes_belong_to_the_image) {
  Json inspect = recorded();
  inspect[0]["Mounts"].push_back({{"Type", "volume"}, {"Source", "/v"}, {"Destination", "/data"}, {"RW", true}});
  EXPECT_TRUE(diffs(recorded_spec(), inspect).empty());
}

TEST(Compare, Takes_an_object_as_well_as_an_array_and_a_null_environment) {
  const auto out = compare(recorded_spec(), recorded()[0].dump(), "null", k_image_id);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(out->size(), 2U);  // PATH and IMAGE_OWN are now nobody's
}

TEST(Compare, Anything_but_dockers_json_is_an_error_not_a_difference) {
  for (const char* text : {"", "[]", "nonsense", "{}", "[1]", "{\"Config\":[]}", "[{},{}]"}) {
    const auto out = compare(recorded_spec(), text, "[]", "");
    ASSERT_FALSE(out.has_value()) << text;
    EXPECT_EQ(out.error().code, Errc::internal);
  }
  EXPECT_FALSE(compare(recorded_spec(), recorded().dump(), "{}", "").has_value());
}

}  // namespace
}  // namespace sskj::deploy
