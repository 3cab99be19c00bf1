// Flags that follow from comparisons of bytes with numbers, by AND and OR: as bit masks right away,
// without a byte for each flag.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

class ByteMasks {
 public:
  /// The flags that a sink of the program takes from `flag`, if they are such, and nobody else
  /// reads them. Then the steps that compute them are left out in this run. REQUIRES: the pass has
  /// been bound.
  bool open(BoundPass& pass, BoundProgram& program, NodeId flag);

  /// Of n elements from `begin` on, at most a block.
  void compute(std::uint64_t* masks, std::int64_t begin, std::int64_t n) const;

 private:
  struct Term {
    vcode::Op op;
    NodeId node;
    std::uint32_t first = 0, second = 0;  // And, Or: of the terms; else a comparison
  };
  static constexpr std::size_t kMostTerms = 16;

  bool read(NodeId node);
  void compute(std::uint32_t term, std::uint64_t* masks, std::int64_t begin, std::int64_t n) const;

  const BoundPass* pass_ = nullptr;
  std::vector<Term> terms_;  // arguments before their users
};

}  // namespace cvl::cpu
