#include "yaml_profile.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>
#include <utility>

#include "source_text.hpp"
#include "sskj/core/text.hpp"

namespace sskj::profile {

namespace {

constexpr std::size_t k_max_depth = 32, k_max_values = 20'000;

// Ends the parse from inside the event handler; caught in yaml_tree() and nowhere else.
struct Stop : std::exception {
  Diagnostic diagnostic;
};

std::size_t count(const Value& value) {
  std::size_t n = 1;
  for (const Value& item : value.items) {
    n += count(item);
  }
  for (const Member& member : value.members) {
    n += count(member.value);
  }
  return n;
}

std::size_t bytes_of(const Value& value) {
  std::size_t n = value.text.size();
  for (const Value& item : value.items) {
    n += bytes_of(item);
  }
  for (const Member& member : value.members) {
    n += member.key.size() + bytes_of(member.value);
  }
  return n;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      stop(mark, "syntax", "a second document begins here", "a profile is one YAML document");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value;
    value.at = at(mark);
    add(std::move(value), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      stop(mark, "syntax", "an alias inside the value that it names", "write the value out");
    }
    values_ += count(found->second);
    expanded_ += bytes_of(found->second);
    if (values_ > k_max_values || expanded_ > k_max_text) {
      stop(mark, "too-large", "the aliases of this document expand beyond what is read", "at most 20000 values and 1 MiB");
    }
    add(found->second, mark, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    refuse_tag(mark, tag);
    if (text.find('\0') != std::string::npos) {
      stop(mark, "stray-byte", "a NUL byte in a value", "no setting can hold one");
    }
    add(scalar(text, at(mark)), mark, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Value::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Value::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = 0;
    YAML::Mark mark;
    bool has_key = false;
    std::string key;
    SourceRef key_at;
  };

  SourceRef at(const YAML::Mark& mark) const {
    return {file_, static_cast<std::size_t>(mark.line < 0 ? 0 : mark.line) + 1, static_cast<std::size_t>(mark.column < 0 ? 0 : mark.column) + 1};
  }

  [[noreturn]] void stop(const YAML::Mark& mark, std::string id, std::string message, std::string hint) {
    Stop ending;
    ending.diagnostic = {Severity::error, std::move(id), std::move(message), std::move(hint), at(mark), ""};
    throw ending;
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str") {
      stop(mark, "syntax", fmt::format("the tag {} is not read", text::printable(tag)), "write the value without a tag");
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Value::Kind kind) {
    refuse_tag(mark, tag);
    if (stack_.size() >= k_max_depth) {
      stop(mark, "too-deep", "the document is nested too deeply", fmt::format("at most {} levels", k_max_depth));
    }
    if (!stack_.empty() && stack_.back().value.kind == Value::Kind::map && !stack_.back().has_key) {
      stop(mark, "syntax", "a key must be a plain text", "");
    }
    Frame frame;
    frame.value.kind = kind;
    frame.value.at = at(mark);
    frame.anchor = anchor;
    frame.mark = mark;
    stack_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(frame.value), frame.mark, frame.anchor);
  }

  void add(Value value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++values_ > k_max_values) {
      stop(mark, "too-large", "the document has too many values", "at most 20000");
    }
    if (anchor != 0) {
      anchors_[anchor] = value;
    }
    if (stack_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.value.kind == Value::Kind::list) {
      frame.value.items.push_back(std::move(value));
    } else if (!frame.has_key) {
      if (value.kind != Value::Kind::scalar) {
        stop(mark, "syntax", "a key must be a plain text", "");
      }
      frame.key = std::move(value.text);
      frame.key_at = value.at;
      frame.has_key = true;
    } else {
      member(frame, std::move(value));
    }
  }

  void member(Frame& frame, Value value) {
    frame.has_key = false;
    for (const Member& before : frame.value.members) {
      if (before.key == frame.key) {
        diagnostics_.push_back({Severity::error, "duplicate-key",
                                fmt::format("{} is set twice: first in line {}, again in line {}", text::printable(frame.key), before.at.line,
                                            frame.key_at.line),
                                "keep one of them", frame.key_at, ""});
        return;
      }
    }
    frame.value.members.push_back({std::move(frame.key), frame.key_at, std::move(value)});
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, Value> anchors_;
  Value root_;
  std::size_t documents_ = 0, values_ = 0, expanded_ = 0;
};

Diagnostic of_exception(const YAML::Exception& e, const std::string& file) {
  Diagnostic out{Severity::error, "syntax", "YAML: " + text::printable(e.msg), "", {file, 0, 0}, ""};
  if (!e.mark.is_null()) {
    out.at.line = static_cast<std::size_t>(e.mark.line) + 1;
    out.at.column = static_cast<std::size_t>(e.mark.column) + 1;
  }
  return out;
}

}  // namespace

Value yaml_tree(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  TreeBuilder builder(file, diagnostics);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    diagnostics.push_back(stop.diagnostic);
    return map_at({file, 1, 1});
  } catch (const YAML::Exception& e) {
    diagnostics.push_back(of_exception(e, file));
    return map_at({file, 1, 1});
  } catch (const std::exception& e) {
    diagnostics.push_back({Severity::error, "syntax", "YAML: " + text::printable(e.what()), "", {file, 0, 0}, ""});
    return map_at({file, 1, 1});
  }
  Value root = builder.take();
  if (root.kind != Value::Kind::map) {
    const bool empty = root.kind == Value::Kind::null;
    diagnostics.push_back({Severity::error, "bad-type", empty ? "the profile is empty" : "a profile is a map of settings",
                           "write `groups:` with at least one group", {file, 1, 1}, ""});
    return map_at({file, 1, 1});
  }
  return root;
}

}  // namespace sskj::profile
