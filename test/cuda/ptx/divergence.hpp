// Where the threads of a warp that went different ways at a branch come together again.
#pragma once

#include <cstdint>
#include <vector>

namespace ptx_machine {

struct Kernel;

/// For each instruction the one that every thread runs next of those that all threads run, whatever
/// way they go: its immediate postdominator (Cooper, Harvey, Kennedy: A Simple, Fast Dominance
/// Algorithm, 2001). The number of instructions where there is none but the end.
std::vector<std::uint32_t> rejoin_points(const Kernel& kernel);

}  // namespace ptx_machine
