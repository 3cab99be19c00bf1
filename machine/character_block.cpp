#include "machine/character_block.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vinterp {

void CharacterBlock::grow(std::size_t size) {
  constexpr std::size_t kFirst = 64;
  const std::size_t least = room() == 0 ? std::max(kFirst, 2 * size_) : size_;
  cvl::Ref<cvl::Buffer> larger = backend_.room_for_upload(std::max(size, least));
  if (size_ > 0) std::memcpy(larger->data, memory_->data, size_);
  memory_ = std::move(larger);
}

void CharacterBlock::append(std::string_view characters) {
  if (characters.size() > room()) grow(std::max(size_ + characters.size(), 2 * size_));
  characters.copy(end(), characters.size());
  add(characters.size());
}

// Memory that is mostly empty is not kept.
bool CharacterBlock::is_full() const {
  return memory_ && memory_->capacity - size_ <= size_ / 4;
}

cvl::Vector CharacterBlock::take(vcode::Type type, std::int64_t length) {
  const bool keeps = is_full();
  const cvl::Ref<cvl::Buffer> memory = std::move(memory_);
  size_ = 0;
  return keeps ? backend_.adopt(type, memory, length)
               : backend_.upload(type, memory ? memory->data : nullptr, length);
}

cvl::Vector CharacterBlock::take() {
  const bool keeps = is_full();
  const cvl::Ref<cvl::Buffer> memory = std::move(memory_);
  const std::size_t size = std::exchange(size_, 0);
  if (keeps) {
    return backend_.adopt_characters(memory, static_cast<std::int64_t>(size));
  }
  return backend_.upload_characters({memory ? memory->as<char>() : nullptr, size});
}

}  // namespace vinterp
