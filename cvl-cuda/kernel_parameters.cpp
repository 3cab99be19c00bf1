// The parameters of the passes of a fused kernel.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "cvl-cuda/kernel_operation.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

using codegen::Member;
using codegen::PassCode;

/// The struct of a pass, as the device sees it.
class Image {
 public:
  template <class T>
  void add(const T& member) {
    static_assert(sizeof(T) % 8 == 0 && alignof(T) == 8);
    const auto* begin = reinterpret_cast<const std::byte*>(&member);
    bytes_.insert(bytes_.end(), begin, begin + sizeof(T));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Arrays of all types are alike for the host.
Array<std::uint64_t> array_of(void* data, std::int64_t length) {
  return {static_cast<std::uint64_t*>(data), length};
}

void* data_of(const Vector& vector) {
  return vector.form == Form::Dense ? vector.buffer->data : nullptr;
}

}  // namespace

std::vector<std::byte> CudaKernel::parameters(const PassControl& control,
                                              const std::vector<std::byte>& members) {
  Image image;
  image.add(control);
  const std::vector<std::byte> head = image.take();
  std::vector<std::byte> bytes(head.size() + members.size());
  std::copy(members.begin(), members.end(), std::copy(head.begin(), head.end(), bytes.begin()));
  return bytes;
}

std::vector<std::byte> CudaKernel::member_parameters(std::size_t number, std::int64_t length) {
  const PlanPass& pass = plan_.passes[number];
  Image image;
  std::int64_t claimed = 0;
  for (const Member& member : code_.passes[number].members) {
    switch (member.kind) {
      case Member::Kind::Source:
        image.add(Source<std::uint64_t>(cuda_.source(arrays_[member.id], length)));
        break;
      case Member::Kind::Target:
        image.add(array_of(data_of(arrays_[member.id]), arrays_[member.id].length));
        break;
      case Member::Kind::Descriptor:
        image.add(cuda_.segments(segdes_[member.id]));
        break;
      case Member::Kind::Size:
        image.add(size(member.id));
        break;
      case Member::Kind::Random: {
        RandomState state = random_;
        state.drawn = stream_at(member.id);
        image.add(state);
        break;
      }
      case Member::Kind::Lengths:
        image.add(array_of(data_of(lengths_[member.id]), lengths_[member.id].length));
        break;
      case Member::Kind::Winners: {
        const std::int64_t targets = size(pass.sinks[member.id].into_length);
        image.add(array_of(winners_ + claimed, targets));
        claimed += targets;
        break;
      }
      case Member::Kind::Kept: {
        const std::size_t bytes =
            static_cast<std::size_t>(length) * cuda_.element_bytes(member.type);
        image.add(array_of(cuda_.keep(cuda_.allocate(bytes)), length));
        break;
      }
      case Member::Kind::Counts:
        image.add(array_of(counts_->data, code_.passes[number].counts));
        break;
    }
  }
  return image.take();
}

std::size_t CudaKernel::parameter_bytes(const PassCode& code) {
  std::size_t bytes = sizeof(PassControl);
  for (const Member& member : code.members) {
    switch (member.kind) {
      case Member::Kind::Source:
        bytes += sizeof(Source<std::uint64_t>);
        break;
      case Member::Kind::Descriptor:
        bytes += sizeof(Segments);
        break;
      case Member::Kind::Random:
        bytes += sizeof(RandomState);
        break;
      case Member::Kind::Size:
        bytes += sizeof(std::int64_t);
        break;
      default:
        bytes += sizeof(Array<std::uint64_t>);
        break;
    }
  }
  return bytes;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
