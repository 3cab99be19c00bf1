// Deletes trees however deep they are: a chain of 100 000 operators is a tree of that depth.
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

namespace neslc {

/// A deleter for the links of trees. What the deletion of a node releases is deleted after it, in a
/// loop, not inside its destructor.
template <class Node>
struct DeepDelete {
  DeepDelete() = default;
  DeepDelete(const std::default_delete<std::remove_const_t<Node>>&) noexcept {}  // make_unique

  void operator()(Node* node) const {
    thread_local std::vector<Node*>* released = nullptr;
    if (released != nullptr) {
      released->push_back(node);
      return;
    }
    std::vector<Node*> pending{node};
    released = &pending;
    while (!pending.empty()) {
      Node* const next = pending.back();
      pending.pop_back();
      delete next;
    }
    released = nullptr;
  }
};

}  // namespace neslc
