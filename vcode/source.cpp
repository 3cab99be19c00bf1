#include "vcode/source.hpp"

#include <algorithm>

namespace vcode {

const std::vector<std::size_t>& Source::line_starts() const {
  std::call_once(lines_found_, [this] {
    const auto newlines = std::count(text_.begin(), text_.end(), '\n');
    line_starts_.reserve(static_cast<std::size_t>(newlines) + 1);
    line_starts_.push_back(0);
    for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at)) {
      line_starts_.push_back(++at);
    }
  });
  return line_starts_;
}

std::string_view Source::line(std::uint32_t number) const {
  const std::vector<std::size_t>& starts = line_starts();
  if (number < first_line_ || number - first_line_ >= starts.size()) return {};
  const std::size_t index = number - first_line_;
  const std::size_t begin = starts[index];
  std::size_t end = index + 1 == starts.size() ? text_.size() : starts[index + 1] - 1;
  if (end > begin && text_[end - 1] == '\r') --end;
  return std::string_view(text_).substr(begin, end - begin);
}

std::string_view Source::text(Span span) const {
  const std::string_view line = this->line(span.line);
  if (span.column == 0 || span.column > line.size()) return {};
  return line.substr(span.column - 1, span.length);
}

}  // namespace vcode
