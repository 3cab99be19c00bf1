#include "vcode/source.hpp"

#include <cstring>
#include <utility>

namespace vcode {

Source::Source(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  // Lines of VCODE are longer than this, and memory that is not written to takes no pages.
  constexpr std::size_t kShortLine = 12;
  line_starts_.reserve(text_.size() / kShortLine + 1);
  line_starts_.push_back(0);
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  for (const char* at = begin; at != end;) {
    const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
    if (newline == nullptr) break;
    at = static_cast<const char*>(newline) + 1;
    line_starts_.push_back(static_cast<std::size_t>(at - begin));
  }
}

std::string_view Source::line(std::uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[number - 1];
  std::size_t end = number == line_starts_.size() ? text_.size() : line_starts_[number] - 1;
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

}  // namespace vcode
