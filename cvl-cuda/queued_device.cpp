#include "cvl-cuda/queued_device.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "cvl-cuda/tuning.hpp"
#include "cvl/failure.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

EmulationOptions& emulation_options() {
  static EmulationOptions options;
  return options;
}

void Device::State::push(std::function<void()> work) {
  queue.push_back(std::move(work));
  if (queue.size() >= options.queued) drain();
}

void Device::State::drain() {
  attempt([this] {
    while (!queue.empty()) {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      work();
    }
  });
}

std::vector<std::int64_t> Device::State::block_order(std::int64_t blocks) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (options.order == BlockOrder::Descending) std::reverse(order.begin(), order.end());
  if (options.order == BlockOrder::Shuffled) std::shuffle(order.begin(), order.end(), random);
  return order;
}

void Device::open() {
  if (state_->options.absent) throw Failure(vcode::ErrorCode::NoBackend, "there is no device");
}

Device::Device(int) : state_(make_state()) {}
Device::~Device() {
  state_->drain();
}

std::string Device::description() const {
  return state_->description();
}
std::size_t Device::pinned_bytes() const {
  // Copies go through memory that a real device pins when it is first needed.
  const bool copied = counters_.uploads + counters_.downloads > 0;
  return state_->pinned_bytes + (copied ? static_cast<std::size_t>(tuning.staging_bytes) : 0);
}
MemorySource& Device::memory() {
  return state_->memory();
}
MemorySource& Device::mapped_memory() {
  return state_->mapped_memory();
}

void Device::upload(void* target, const void* source, std::size_t bytes) {
  counters_.uploads += 1;
  counters_.upload_bytes += bytes;
  idle_ = false;
  const auto* begin = static_cast<const std::byte*>(source);
  state_->push(
      [state = state_.get(), target, staged = std::vector<std::byte>(begin, begin + bytes)] {
        state->check_write(target, staged.size());
        std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
      });
}

void Device::download(void* target, const void* source, std::size_t bytes) {
  counters_.downloads += 1;
  counters_.download_bytes += bytes;
  wait();
  if (bytes == 0) return;
  state_->attempt([&] { state_->check_read(source, bytes); });
  std::memcpy(target, source, bytes);
}

void Device::copy(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([state = state_.get(), target, source, bytes] {
    state->check_read(source, bytes);
    state->check_write(target, bytes);
    std::memcpy(target, source, bytes);
  });
}

void Device::fill(void* target, std::uint8_t byte, std::size_t bytes) {
  if (bytes == 0) return;
  idle_ = false;
  state_->push([state = state_.get(), target, byte, bytes] {
    state->check_write(target, bytes);
    std::memset(target, byte, bytes);
  });
}

void Device::wait() {
  counters_.waits += 1;
  state_->drain();
  idle_ = true;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
