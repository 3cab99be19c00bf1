#include "machine/value_stack.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/machine.hpp"
#include "machine/tuning.hpp"

namespace vinterp {
namespace {

using cvl::Value;

constexpr std::size_t kSmallBlock = 32;
/// A call that holds more, on average, holds vectors.
constexpr std::size_t kVectorBytes = 4096;

}  // namespace

namespace detail {

void* resize_charged(cvl::Heap& heap, void* old, std::size_t old_bytes, std::size_t new_bytes) {
  heap.charge(new_bytes - old_bytes);
  void* const data = std::realloc(old, new_bytes);
  if (data == nullptr) {
    heap.discharge(new_bytes - old_bytes);
    throw cvl::Failure(
        vcode::ErrorCode::OutOfMemory, "out of memory",
        {fmt::format("the system refused {} for the stack", cvl::format_bytes(new_bytes))});
  }
  return data;
}

void release_charged(cvl::Heap& heap, void* data, std::size_t bytes) noexcept {
  std::free(data);
  heap.discharge(bytes);
}

}  // namespace detail

void ValueStack::grow(std::size_t count) {
  const std::size_t used = size();
  const auto capacity = static_cast<std::size_t>(limit_ - begin_);
  const std::size_t wanted =
      std::max({static_cast<std::size_t>(tuning.initial_values), 2 * capacity, used + count});
  void* const data = detail::resize_charged(heap_, static_cast<void*>(begin_), capacity_bytes(),
                                            wanted * sizeof(Value));
  begin_ = static_cast<Value*>(data);
  top_ = begin_ + used;
  limit_ = begin_ + wanted;
}

void ValueStack::move_one_to_top(std::size_t start) {
  alignas(Value) std::byte aside[sizeof(Value)];
  auto* const held = reinterpret_cast<Value*>(aside);
  Value* to = top_ - start - 1;
  detail::relocate_one(held, to);
  for (; to != top_ - 1; ++to) detail::relocate_one(to, to + 1);
  detail::relocate_one(to, held);
}

void ValueStack::move_many_to_top(std::size_t count, std::size_t start) {
  Value* const block = top_ - start - count;
  // The smaller part is put aside, which for compiled programs is a few values.
  const std::size_t aside = std::min(count, start);
  alignas(Value) std::byte small[kSmallBlock * sizeof(Value)];
  std::unique_ptr<std::byte[]> large;
  if (aside > kSmallBlock) large = std::make_unique<std::byte[]>(aside * sizeof(Value));
  auto* const held = reinterpret_cast<Value*>(large ? large.get() : small);
  if (count <= start) {
    detail::relocate(held, block, count);
    detail::relocate(block, block + count, start);
    detail::relocate(block + start, held, count);
  } else {
    detail::relocate(held, block + count, start);
    detail::relocate(block + start, block, count);
    detail::relocate(block, held, start);
  }
}

void CallStack::grow() {
  const bool holds_much =
      heap_.in_use() > heap_.limit() / 8 && heap_.in_use() / kVectorBytes > depth_;
  if (depth_ >= kMany && max_depth_ == MachineOptions::kDefaultDepth && holds_much) {
    throw cvl::Failure(
        vcode::ErrorCode::CallDepth,
        fmt::format("calls are nested {} deep and hold {} of memory", depth_,
                    cvl::format_bytes(heap_.in_use())),
        {}, "does the recursion end? If it does, say how deep it may be with --max-depth");
  }
  if (depth_ >= max_depth_) {
    throw cvl::Failure(vcode::ErrorCode::CallDepth,
                       fmt::format("calls are nested more than {} deep", max_depth_), {},
                       "does the recursion end? If it does, raise the limit with --max-depth");
  }
  const std::size_t more = capacity_ < kMany ? std::min(2 * capacity_, kMany) : capacity_ / 4 * 5;
  const std::size_t capacity =
      std::min(std::max(static_cast<std::size_t>(tuning.initial_calls), more), max_depth_);
  try {
    void* const data = detail::resize_charged(heap_, places_, capacity_ * sizeof(std::uint32_t),
                                              capacity * sizeof(std::uint32_t));
    places_ = static_cast<std::uint32_t*>(data);
  } catch (const cvl::Failure& failure) {
    throw cvl::Failure(
        vcode::ErrorCode::CallDepth,
        fmt::format("calls are nested {} deep, and there is no memory for more", depth_),
        failure.notes(), "does the recursion end? If it does, raise the limit with --memory");
  }
  capacity_ = capacity;
}

}  // namespace vinterp
