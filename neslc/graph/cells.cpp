#include "neslc/graph/cells.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace neslc::graph {
namespace {

constexpr double kCharacter = 7.6, kCellPadding = 7, kFrameGap = 7, kEmptyFrame = 14;
constexpr double kDescriptorPadding = 5;

double cell_width(const std::string& text) {
  return std::max(22.0, kCharacter * static_cast<double>(text.size()) + 2 * kCellPadding);
}

double frame_width(const std::vector<std::string>& frame) {
  double width = 0;
  for (const std::string& text : frame) width += cell_width(text);
  return frame.empty() ? kEmptyFrame : width;
}

std::size_t length_of(const std::string& text) {
  std::size_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

}  // namespace

Cells::Cells(const DataFlow& flow, std::size_t datum) {
  const Datum& shown = flow.data[datum];
  descriptor_ = shown.descriptor;
  const std::vector<std::string>& elements = shown.elements;
  const auto all = static_cast<std::size_t>(shown.length);
  bool more = all > elements.size();
  const auto add_frame = [&](std::size_t begin, std::size_t end) {
    frames_.emplace_back(elements.begin() + static_cast<std::ptrdiff_t>(begin),
                         elements.begin() + static_cast<std::ptrdiff_t>(end));
  };
  if (shown.segments != kNone && flow.data[shown.segments].length != 1) {
    const Datum& descriptor = flow.data[shown.segments];
    std::size_t begin = 0;
    for (const std::string& text : descriptor.elements) {
      if (more && begin == elements.size()) break;
      const std::size_t end = std::min(begin + length_of(text), elements.size());
      add_frame(begin, end);
      begin = end;
    }
    more = more || frames_.size() < static_cast<std::size_t>(descriptor.length);
  } else {
    add_frame(0, elements.size());
  }
  if (frames_.empty()) frames_.emplace_back();
  if (more) frames_.back().push_back(fmt::format("... {} in all", all));
  width_ = -kFrameGap;
  for (const auto& frame : frames_) width_ += frame_width(frame) + kFrameGap;
}

void Cells::draw(Svg& svg, At corner, std::string_view color) const {
  double x = corner.x;
  const double inset = descriptor_ ? kDescriptorPadding / 2 : 0;
  for (const auto& frame : frames_) {
    const double width = frame_width(frame);
    const std::string_view dashes = descriptor_ ? "3 2" : "";
    svg.rectangle({x, corner.y + inset}, width, kHeight - 2 * inset,
                  descriptor_ ? "#f6f6f6" : "#ffffff",
                  {.color = descriptor_ ? "#909090" : color, .width = 1.3, .dashes = dashes}, 4);
    double cell = x;
    for (const std::string& text : frame) {
      if (cell > x) {
        svg.line({cell, corner.y + inset}, {cell, corner.y + kHeight - inset},
                 {.color = "#cccccc"});
      }
      svg.text({cell + cell_width(text) / 2, corner.y + 16.5}, text,
               {.anchor = "middle", .size = 12.5, .monospace = true});
      cell += cell_width(text);
    }
    x += width + kFrameGap;
  }
}

}  // namespace neslc::graph
