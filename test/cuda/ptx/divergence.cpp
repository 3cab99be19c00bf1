#include "cuda/ptx/divergence.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "cuda/ptx/kernel.hpp"

namespace ptx_machine {
namespace {

/// The instructions that may come next; `count` is the end.
std::vector<std::uint32_t> successors(const Kernel& kernel, std::uint32_t at) {
  const auto end = static_cast<std::uint32_t>(kernel.code.size());
  const Instruction& instruction = kernel.code[at];
  std::string_view text = kernel.text[at];
  if (instruction.guarded) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  std::vector<std::uint32_t> result;
  if (text.starts_with("bra")) {
    result.push_back(instruction.target);
  } else if (text.starts_with("ret") || text.starts_with("exit") || text.starts_with("trap")) {
    result.push_back(end);
  } else {
    return {at + 1};
  }
  if (instruction.guarded) result.push_back(at + 1);
  return result;
}

}  // namespace

std::vector<std::uint32_t> rejoin_points(const Kernel& kernel) {
  const auto end = static_cast<std::uint32_t>(kernel.code.size());
  constexpr std::uint32_t kUnknown = UINT32_MAX;
  // In the order in which a walk from the end comes to the instructions, each has a number below
  // that of one which leads away from it.
  std::vector<std::vector<std::uint32_t>> next(end), before(end + 1);
  for (std::uint32_t at = 0; at < end; ++at) {
    next[at] = successors(kernel, at);
    for (const std::uint32_t to : next[at]) before[to].push_back(at);
  }
  std::vector<std::uint32_t> order, number(end + 1, kUnknown);  // postorder of the reversed graph
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{end, 0}};
  std::vector<bool> seen(end + 1);
  seen[end] = true;
  while (!stack.empty()) {
    auto& [at, child] = stack.back();
    if (child < before[at].size()) {
      const std::uint32_t from = before[at][child++];
      if (!seen[from]) {
        seen[from] = true;
        stack.emplace_back(from, 0);
      }
      continue;
    }
    number[at] = static_cast<std::uint32_t>(order.size());
    order.push_back(at);
    stack.pop_back();
  }
  std::vector<std::uint32_t> rejoin(end + 1, kUnknown);
  rejoin[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (*at == end) continue;
      std::uint32_t meet = kUnknown;
      for (std::uint32_t other : next[*at]) {
        if (rejoin[other] == kUnknown) continue;
        if (meet == kUnknown) {
          meet = other;
          continue;
        }
        while (meet != other) {
          while (number[meet] < number[other]) meet = rejoin[meet];
          while (number[other] < number[meet]) other = rejoin[other];
        }
      }
      changed = changed || rejoin[*at] != meet;
      rejoin[*at] = meet;
    }
  }
  for (std::uint32_t& each : rejoin) {
    if (each == kUnknown) each = end;  // of a loop that does not end
  }
  rejoin.pop_back();
  return rejoin;
}

}  // namespace ptx_machine
