#include "vcode/strong_components.hpp"

#include <algorithm>
#include <utility>

namespace vcode {
namespace {

class Components {
 public:
  explicit Components(const Edges& edges)
      : edges_(edges), number_(edges.size()), low_(edges.size()), open_(edges.size()) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t node = 0; node < edges_.size(); ++node) {
      if (number_[node] == 0) visit(node);
    }
    return std::move(components_);
  }

 private:
  struct Step {
    std::uint32_t node;
    std::size_t edge;
  };

  void enter(std::uint32_t node) {
    number_[node] = low_[node] = ++last_;
    path_.push_back(node);
    open_[node] = true;
    steps_.push_back({node, 0});
  }

  void visit(std::uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      const std::uint32_t node = steps_.back().node;
      if (steps_.back().edge < edges_[node].size()) {
        const std::uint32_t next = edges_[node][steps_.back().edge++];
        if (number_[next] == 0) {
          enter(next);
        } else if (open_[next]) {
          low_[node] = std::min(low_[node], number_[next]);
        }
        continue;
      }
      steps_.pop_back();
      if (!steps_.empty()) {
        const std::uint32_t parent = steps_.back().node;
        low_[parent] = std::min(low_[parent], low_[node]);
      }
      if (low_[node] == number_[node]) close(node);
    }
  }

  void close(std::uint32_t root) {
    std::vector<std::uint32_t> component;
    do {
      component.push_back(path_.back());
      open_[path_.back()] = false;
      path_.pop_back();
    } while (component.back() != root);
    components_.push_back(std::move(component));
  }

  const Edges& edges_;
  std::vector<std::uint32_t> number_, low_;  // number 0: not yet seen
  std::vector<bool> open_;                   // is it on the path?
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> path_;
  std::vector<Step> steps_;
  std::vector<std::vector<std::uint32_t>> components_;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> strong_components(const Edges& edges) {
  return Components(edges).run();
}

}  // namespace vcode
