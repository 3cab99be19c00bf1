#include "shrinker.hpp"

#include <utility>

namespace neslc::random_test {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails)
      : program_(std::move(program)), fails_(fails) {}

  Program run() {
    while (smaller()) {
    }
    return std::move(program_);
  }

 private:
  /// One step; false if nothing can be left out any more.
  bool smaller() {
    for (std::size_t i = 0; i < program_.definitions.size(); ++i) {
      Program candidate = program_;
      candidate.definitions.erase(candidate.definitions.begin() + static_cast<std::ptrdiff_t>(i));
      if (accepted(std::move(candidate))) return true;
    }
    if (reduced(program_.expression)) return true;
    for (Node& definition : program_.definitions) {
      for (Node& child : definition.children) {
        if (reduced(child)) return true;
      }
    }
    return false;
  }

  bool accepted(Program candidate) {
    if (!fails_(candidate)) return false;
    program_ = std::move(candidate);
    return true;
  }

  /// Replaces the node, which is a part of `program_`, or one inside it.
  bool reduced(Node& node) {
    if (node.children.empty() && text_of(node) == text_of(smallest(node.type))) return false;
    std::vector<Node> candidates{smallest(node.type)};
    collect(node, node.type, candidates);
    for (Node& candidate : candidates) {
      if (text_of(candidate).size() >= text_of(node).size()) continue;
      if (replaced(node, std::move(candidate))) return true;
    }
    for (Node& child : node.children) {
      if (reduced(child)) return true;
    }
    return false;
  }

  bool replaced(Node& node, Node by) {
    std::swap(node, by);
    if (fails_(program_)) return true;
    std::swap(node, by);
    return false;
  }

  static void collect(const Node& node, const Type& type, std::vector<Node>& candidates) {
    for (const Node& child : node.children) {
      if (child.type == type) candidates.push_back(child);
      collect(child, type, candidates);
    }
  }

  Program program_;
  const std::function<bool(const Program&)>& fails_;
};

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  return Shrinker(std::move(program), fails).run();
}

}  // namespace neslc::random_test
