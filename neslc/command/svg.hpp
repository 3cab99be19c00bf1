// Pictures in the form SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace neslc {

struct At {
  double x = 0;
  double y = 0;
};

/// How a text is placed and looks.
struct TextStyle {
  std::string_view anchor = "start";  // or "middle", "end": which of its points is given
  double size = 12;
  std::string_view color = "#222222";
  bool bold = false;
  bool monospace = false;
  double turn = 0;  // degrees, clockwise
};

struct Stroke {
  std::string_view color = "#222222";
  double width = 1;
  std::string_view dashes = {};  // lengths; empty: none
};

/// Collects shapes, the later ones above the earlier ones. y grows downward.
class Svg {
 public:
  void line(At from, At to, const Stroke& stroke);
  void polyline(std::span<const At> points, const Stroke& stroke);
  /// A path as SVG writes it.
  void path(std::string_view commands, const Stroke& stroke);
  void rectangle(At corner, double width, double height, std::string_view fill,
                 const Stroke& stroke, double radius = 0);
  void circle(At center, double radius, std::string_view fill);
  void polygon(std::span<const At> points, std::string_view fill);
  /// Characters that XML does not allow are shown escaped.
  void text(At at, std::string_view text, const TextStyle& style);

  /// The whole file. `title` is what programs that read pictures aloud say.
  std::string file(double width, double height, std::string_view title) const;

 private:
  std::string shapes_;
};

}  // namespace neslc
