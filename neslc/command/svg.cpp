#include "neslc/command/svg.hpp"

#include <fmt/format.h>

#include "vcode/diagnostics.hpp"

namespace neslc {
namespace {

std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : vcode::escaped(text)) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string attributes(const Stroke& stroke) {
  std::string text =
      fmt::format("stroke=\"{}\" stroke-width=\"{:.4g}\"", stroke.color, stroke.width);
  if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return text;
}

std::string points_text(std::span<const At> points) {
  std::string text;
  for (const At& point : points) {
    text += fmt::format("{}{:.1f},{:.1f}", text.empty() ? "" : " ", point.x, point.y);
  }
  return text;
}

}  // namespace

void Svg::line(At from, At to, const Stroke& stroke) {
  shapes_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n",
                         from.x, from.y, to.x, to.y, attributes(stroke));
}

void Svg::polyline(std::span<const At> points, const Stroke& stroke) {
  shapes_ += fmt::format("<polyline fill=\"none\" stroke-linejoin=\"round\" {} points=\"{}\"/>\n",
                         attributes(stroke), points_text(points));
}

void Svg::path(std::string_view commands, const Stroke& stroke) {
  shapes_ += fmt::format("<path d=\"{}\" fill=\"none\" {}/>\n", commands, attributes(stroke));
}

void Svg::rectangle(At corner, double width, double height, std::string_view fill,
                    const Stroke& stroke, double radius) {
  shapes_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.4g}\" "
      "fill=\"{}\" {}/>\n",
      corner.x, corner.y, width, height, radius, fill, attributes(stroke));
}

void Svg::circle(At center, double radius, std::string_view fill) {
  shapes_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.4g}\" fill=\"{}\"/>\n",
                         center.x, center.y, radius, fill);
}

void Svg::polygon(std::span<const At> points, std::string_view fill) {
  shapes_ += fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points_text(points), fill);
}

void Svg::text(At at, std::string_view text, const TextStyle& style) {
  std::string more;
  if (style.bold) more += " font-weight=\"bold\"";
  if (style.monospace) more += " font-family=\"monospace\"";
  if (style.turn != 0) {
    more += fmt::format(" transform=\"rotate({:.4g} {:.1f} {:.1f})\"", style.turn, at.x, at.y);
  }
  shapes_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{:.4g}\" fill=\"{}\"{} "
      "xml:space=\"preserve\">{}</text>\n",
      at.x, at.y, style.anchor, style.size, style.color, more, xml_text(text));
}

std::string Svg::file(double width, double height, std::string_view title) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n<title>{2}</title>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             width, height, xml_text(title)) +
         shapes_ + "</svg>\n";
}

}  // namespace neslc
