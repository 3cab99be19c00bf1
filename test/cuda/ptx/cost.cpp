#include "cuda/ptx/cost.hpp"

#include <algorithm>
#include <utility>

namespace ptx_machine {
namespace {

constexpr std::uint64_t kSectorBytes = 32;

std::uint64_t distinct(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::uint64_t>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  launches += other.launches;
  blocks += other.blocks;
  threads += other.threads;
  instructions += other.instructions;
  barriers += other.barriers;
  loads += other.loads;
  load_bytes += other.load_bytes;
  load_sectors += other.load_sectors;
  stores += other.stores;
  store_bytes += other.store_bytes;
  store_sectors += other.store_sectors;
  waits += other.waits;
  most_loads = std::max(most_loads, other.most_loads);
  return *this;
}

void BlockCost::begin(std::size_t threads) {
  cost_ = {};
  cost_.blocks = 1;
  cost_.threads = threads;
  threads_.assign(threads, {});
  requests_.clear();
}

void BlockCost::count(const Instruction& instruction, const Thread& thread) {
  ++cost_.instructions;
  OfThread& own = threads_[thread.index];
  const bool uses = std::any_of(own.pending.begin(), own.pending.end(), [&](std::uint32_t pending) {
    return std::find(instruction.r.begin(), instruction.r.end(), pending) != instruction.r.end() ||
           (instruction.guarded && instruction.guard == pending);
  });
  if (uses) {
    ++cost_.waits;
    cost_.most_loads = std::max(cost_.most_loads, own.loads);
    own.pending.clear();
    own.loads = 0;
  }
  if (instruction.access == Instruction::AccessKind::None) return;
  if (instruction.guarded && thread.get<bool>(instruction.guard) != instruction.guard_value) return;
  count_access(instruction, thread, own);
}

void BlockCost::count_access(const Instruction& instruction, const Thread& thread, OfThread& own) {
  const bool is_load = instruction.access == Instruction::AccessKind::Load;
  const auto address = thread.get<std::uint64_t>(instruction.r[is_load ? instruction.values : 0]) +
                       static_cast<std::uint64_t>(instruction.offset);
  if (!thread.block->memory->contains(address)) return;
  if (is_load) {
    ++cost_.loads;
    cost_.load_bytes += instruction.bytes;
    ++own.loads;
    own.pending.insert(own.pending.end(), instruction.r.begin(),
                       instruction.r.begin() + instruction.values);
  } else {
    ++cost_.stores;
    cost_.store_bytes += instruction.bytes;
  }
  const Request request{thread.index / SharedMemory::kWarp, &instruction,
                        own.occurrences[&instruction]++};
  std::vector<std::uint64_t>& sectors = requests_[request];
  const std::uint64_t last = (address + instruction.bytes - 1) / kSectorBytes;
  for (std::uint64_t each = address / kSectorBytes; each <= last; ++each) sectors.push_back(each);
}

Cost BlockCost::end() {
  for (auto& [request, sectors] : requests_) {
    const bool is_load = std::get<1>(request)->access == Instruction::AccessKind::Load;
    (is_load ? cost_.load_sectors : cost_.store_sectors) += distinct(sectors);
  }
  requests_.clear();
  return std::exchange(cost_, {});
}

}  // namespace ptx_machine
