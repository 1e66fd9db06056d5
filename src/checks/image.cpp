// The image is there, and is the same one everywhere: a tag is not an identity (the K3 tag moves).
#include "rows.hpp"

namespace sskj::checks {
namespace {

constexpr std::string_view k_body = R"sh(
printf '%s\n' "$images" | while IFS= read -r image; do
  if v=$(docker image inspect -f '{{.Id}} {{.Architecture}} {{.Size}}' "$image" 2>&1); then
    echo "image $v $image"
  else
    case $v in *[Nn]o\ such\ image*) echo "absent $image";; *) echo "error $image: $(printf '%s' "$v" | tail -n 1)";; esac
  fi
done
echo end
)sh";

std::vector<std::string> images_of(const NodeView& view) {
  std::vector<std::string> images;
  for (const auto& on : view.ranks) images.push_back(on.rank->spec.image);
  return unique(images);
}

std::optional<Probe> probe(const NodeView& view) {
  const auto images = images_of(view);
  if (images.empty()) return std::nullopt;
  return Probe{{{"images", lines(images)}}, Json{{"images", images}}.dump()};
}

struct Seen { std::string id, image; };

std::vector<Seen> seen(const Output& output) {
  std::vector<Seen> all;
  for (const auto& line : output.values("image")) {
    const auto words = split_blanks(line, 4);
    if (words.size() == 4 && words[0].starts_with("sha256:")) all.push_back({words[0], words[3]});
  }
  return all;
}

Findings judge(const Json& expectation, const Output& output) {
  if (!complete(output)) return {incomplete(output, "image")};
  Findings findings;
  const auto present = seen(output);
  const auto absent = output.values("absent");
  for (const auto& image : expectation.value("images", std::vector<std::string>{})) {
    const auto at = std::find_if(present.begin(), present.end(), [&](const Seen& one) { return one.image == image; });
    if (at != present.end()) {
      findings.push_back(good("image " + image + " is present", at->id));
    } else if (std::find(absent.begin(), absent.end(), image) != absent.end()) {
      findings.push_back(bad("image " + image + " is missing", image, "no such image", "docker pull " + image + " on this node, or load it from a node that has it"));
    } else {
      findings.push_back(unsure("image " + image + ": docker gave no usable answer", output.first_line()));
    }
  }
  return findings;
}

std::vector<Fact> facts(const Output& output) {
  std::vector<Fact> all;
  for (const auto& one : seen(output)) all.push_back({"image-id " + one.image, one.id});
  return all;
}

constexpr Agreement k_agreements[] = {{"image-id", "the image's id", Errc::integrity, "pull or load one and the same image on all nodes"}};

}  // namespace

Check image_check() {
  return {.id = "image",
          .title = "image present",
          .why = "a tag is mutable: two nodes that pulled on different days run different code",
          .remedy = "pull or load the image on this node",
          .source = "sglang.md 0.1; sglang#23603",
          .seconds = 15,
          .body = k_body,
          .probe = probe,
          .judge = judge,
          .facts = facts,
          .agreements = k_agreements};
}

}  // namespace sskj::checks
