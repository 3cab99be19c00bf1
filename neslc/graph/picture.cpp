#include "neslc/graph/picture.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "neslc/command/svg.hpp"
#include "neslc/graph/cells.hpp"
#include "neslc/graph/layout.hpp"
#include "vcode/utf8.hpp"

namespace neslc::graph {
namespace {

constexpr double kMargin = 28, kHead = 78;
constexpr double kBoxHeight = 44, kPadding = 12, kBetween = 8;
constexpr double kLegendRow = 22;
constexpr std::size_t kLongestText = 34;  // characters of the program in a box
constexpr std::size_t kLongestResult = 60;
constexpr std::size_t kLongestTitle = 100;
constexpr double kNameCharacter = 10.4, kTextCharacter = 6.7;  // their widths

/// Fill and border by level; deeper ones have the last.
struct Look {
  std::string_view fill, border;
};
constexpr std::array<Look, 5> kLooks = {Look{"#ececec", "#7a7a7a"}, Look{"#d4e6f7", "#2f6fab"},
                                        Look{"#fde5c3", "#c27a1a"}, Look{"#d7efd4", "#3d8a3a"},
                                        Look{"#ead9f3", "#7d4aa0"}};
constexpr std::string_view kEdge = "#666666", kDescriptorEdge = "#a0a0a0";

const Look& look_of(std::size_t level) {
  return kLooks[std::min(level, kLooks.size() - 1)];
}

/// Whole characters of UTF-8, and dots where some are left out.
std::string shortened(const std::string& text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest - 1;
  while (end > 0 && vcode::continues_character(text[end])) --end;
  return text.substr(0, end) + "…";
}

class Picture {
 public:
  Picture(const DataFlow& flow, const Caption& caption) : flow_(flow), caption_(caption) {}

  Drawn draw() {
    find_needed();
    for (std::size_t i = 0; i < flow_.operations.size(); ++i) {
      // A descriptor that is only made to divide vectors is seen as their borders.
      if (!drawn(flow_.operations[i])) continue;
      add_operation(i);
      ++operations_;
    }
    add_result();
    const Size size = lay_out(vertices_, edges_);
    const double head = draw_head();
    left_ = kMargin + std::max(0.0, (head - size.width) / 2);
    for (std::size_t k = 0; k < edges_.size(); ++k) draw_edge(k);
    for (std::size_t i = 0; i < vertices_.size(); ++i) draw_vertex(i);
    const double bottom = kHead + size.height + kMargin;
    const double legend = draw_legend(bottom);
    const double width = std::max({size.width, legend_width_, head}) + 2 * kMargin;
    return {svg_.file(width, bottom + legend + kMargin / 2, caption_.expression), operations_};
  }

 private:
  /// An operation, a constant or the result.
  struct Content {
    std::size_t operation = kNone;
    std::size_t constant = kNone;  // a datum
  };
  /// Which datum an edge carries, and where it arrives.
  struct Port {
    std::size_t datum;
    std::size_t position;  // among the edges that arrive
  };

  // ---- What is drawn

  /// A descriptor is drawn where an operation needs it for more than to divide an operand.
  bool shows(const Operation& operation, std::size_t operand) const {
    if (!flow_.data[operation.in[operand]].descriptor) return true;
    const auto divides = [&](const vcode::LengthTerm& term, const vcode::LengthTerm& other) {
      return term.described && term.operand == operand && !other.described;
    };
    const auto rules = vcode::length_rules(operation.op);
    return std::none_of(rules.begin(), rules.end(), [&](const vcode::LengthRule& rule) {
      return divides(rule.left, rule.right) || divides(rule.right, rule.left);
    });
  }

  /// The data that an operation is shown to need, in their order.
  std::vector<Port> ports_of(const Operation& operation) const {
    std::vector<Port> ports;
    for (std::size_t operand = 0; operand < operation.in.size(); ++operand) {
      if (shows(operation, operand)) ports.push_back({operation.in[operand], ports.size()});
    }
    return ports;
  }

  bool drawn(const Operation& operation) const {
    return std::any_of(operation.out.begin(), operation.out.end(),
                       [&](std::size_t datum) { return needed_.contains(datum); });
  }

  void find_needed() {
    for (const std::size_t datum : flow_.results) {
      if (!flow_.data[datum].descriptor) needed_.insert(datum);
    }
    for (std::size_t i = flow_.operations.size(); i-- > 0;) {
      const Operation& operation = flow_.operations[i];
      if (!drawn(operation)) continue;
      for (const Port& port : ports_of(operation)) needed_.insert(port.datum);
    }
  }

  Cells cells(std::size_t datum) const { return Cells(flow_, datum); }

  void add_vertex(Content content, Vertex vertex) {
    contents_.push_back(content);
    vertices_.push_back(vertex);
  }

  void add_operation(std::size_t number) {
    const Operation& operation = flow_.operations[number];
    const std::vector<Port> ports = ports_of(operation);
    prepare(ports);
    double below = 0;
    for (const std::size_t datum : operation.out) {
      if (needed_.contains(datum)) below += cells(datum).width() + kBetween;
    }
    Vertex vertex;
    vertex.width = std::max(box_width(operation), below - kBetween);
    vertex.height = kBoxHeight + kBetween / 2 + Cells::kHeight;
    const std::size_t vertex_number = vertices_.size();
    add_vertex({.operation = number}, vertex);
    for (const std::size_t datum : operation.out) place_of_[datum] = vertex_number;
    connect(ports, vertex_number);
  }

  void add_result() {
    std::vector<Port> ports;
    for (const std::size_t datum : flow_.results) {
      if (!flow_.data[datum].descriptor) ports.push_back({datum, ports.size()});
    }
    prepare(ports);
    const std::string text = result_text();
    Vertex vertex;
    vertex.width = kTextCharacter * 1.15 * static_cast<double>(text.size()) + 2 * kPadding;
    vertex.height = kBoxHeight;
    add_vertex({}, vertex);
    connect(ports, vertices_.size() - 1);
  }

  /// Makes the vertices of constants: of a number one wherever it is needed, of others when the
  /// first operation needs them.
  void prepare(const std::vector<Port>& ports) {
    std::set<std::size_t> data;
    for (const Port& port : ports) data.insert(port.datum);
    for (const std::size_t datum : data) {
      const Datum& needed = flow_.data[datum];
      const bool number = needed.producer == kNone && !needed.descriptor && needed.length == 1;
      if (number || !place_of_.contains(datum)) add_constant(datum);
    }
  }

  void add_constant(std::size_t datum) {
    place_of_[datum] = vertices_.size();
    Vertex vertex;
    const double text = kTextCharacter * static_cast<double>(label_of(datum).size());
    vertex.width = std::max(cells(datum).width(), text);
    vertex.height = Cells::kHeight + 18;
    vertex.source = true;
    add_vertex({.constant = datum}, vertex);
  }

  void connect(const std::vector<Port>& ports, std::size_t vertex) {
    for (const Port& port : ports) {
      edges_.push_back({.from = place_of_.at(port.datum), .to = vertex});
      ports_.push_back(port);
    }
    arriving_[vertex] = ports.size();
  }

  /// What the program calls a constant. A number says enough unless it has a name.
  std::string label_of(std::size_t datum) const {
    const Datum& constant = flow_.data[datum];
    const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool name = std::all_of(constant.text.begin(), constant.text.end(), in_name) &&
                      !constant.text.empty() &&
                      std::isdigit(static_cast<unsigned char>(constant.text.front())) == 0;
    if (constant.length == 1 && !constant.descriptor && !name) return {};
    return shortened(constant.text, kLongestText);
  }

  std::string result_text() const { return shortened(caption_.result, kLongestResult); }

  static double box_width(const Operation& operation) {
    const std::string_view name = vcode::info(operation.op).text;
    const std::string text = shortened(operation.text, kLongestText);
    return std::max(kNameCharacter * static_cast<double>(name.size()),
                    kTextCharacter * static_cast<double>(text.size())) +
           2 * kPadding;
  }

  // ---- Shapes

  At corner(std::size_t vertex) const {
    const At at = vertices_[vertex].corner;
    return {at.x + left_, at.y + kHead};
  }
  double middle(std::size_t vertex) const { return corner(vertex).x + vertices_[vertex].width / 2; }

  /// The left ends of the rows of cells below an operation.
  std::map<std::size_t, double> places_below(std::size_t vertex) const {
    const Operation& operation = flow_.operations[contents_[vertex].operation];
    double width = -kBetween;
    for (const std::size_t datum : operation.out) {
      if (needed_.contains(datum)) width += cells(datum).width() + kBetween;
    }
    std::map<std::size_t, double> places;
    double x = middle(vertex) - width / 2;
    for (const std::size_t datum : operation.out) {
      if (!needed_.contains(datum)) continue;
      places[datum] = x;
      x += cells(datum).width() + kBetween;
    }
    return places;
  }

  void draw_vertex(std::size_t vertex) {
    const Content& content = contents_[vertex];
    if (content.operation != kNone) return draw_operation(vertex);
    if (content.constant != kNone) return draw_constant(vertex);
    draw_result(vertex);
  }

  void draw_operation(std::size_t vertex) {
    const Operation& operation = flow_.operations[contents_[vertex].operation];
    const Look& look = look_of(operation.level);
    levels_.insert(std::min(operation.level, kLooks.size() - 1));
    const double width = box_width(operation), x = middle(vertex), y = corner(vertex).y;
    svg_.rectangle({x - width / 2, y}, width, kBoxHeight, look.fill,
                   {.color = look.border, .width = 1.4}, 7);
    svg_.text({x, y + 18}, vcode::info(operation.op).text,
              {.anchor = "middle", .size = 14, .bold = true});
    svg_.text({x, y + 35}, shortened(operation.text, kLongestText),
              {.anchor = "middle", .size = 11, .color = "#444444", .monospace = true});
    for (const auto& [datum, left] : places_below(vertex)) {
      cells(datum).draw(svg_, {left, y + kBoxHeight + kBetween / 2}, look.border);
    }
  }

  void draw_constant(std::size_t vertex) {
    const std::size_t datum = contents_[vertex].constant;
    const double x = middle(vertex), y = corner(vertex).y;
    svg_.text({x, y + 11}, label_of(datum),
              {.anchor = "middle", .size = 11, .color = "#444444", .monospace = true});
    const Cells row = cells(datum);
    row.draw(svg_, {x - row.width() / 2, y + 18}, look_of(0).border);
  }

  void draw_result(std::size_t vertex) {
    const At at = corner(vertex);
    svg_.rectangle(at, vertices_[vertex].width, kBoxHeight, "#ffffff",
                   {.color = "#222222", .width = 2}, 7);
    svg_.text({middle(vertex), at.y + 17}, "result", {.anchor = "middle", .size = 11});
    svg_.text({middle(vertex), at.y + 34}, result_text(),
              {.anchor = "middle", .size = 13, .bold = true, .monospace = true});
  }

  void draw_edge(std::size_t edge) {
    const std::size_t from = edges_[edge].from, to = edges_[edge].to;
    const Port& port = ports_[edge];
    At at{middle(from), corner(from).y + vertices_[from].height};
    if (contents_[from].operation != kNone) {
      at.x = places_below(from).at(port.datum) + cells(port.datum).width() / 2;
    }
    const auto arrivals = static_cast<double>(arriving_.at(to));
    const std::size_t operation = contents_[to].operation;
    const double width =
        operation == kNone ? vertices_[to].width : box_width(flow_.operations[operation]);
    const At end{
        middle(to) + width * ((static_cast<double>(port.position) + 1) / (arrivals + 1) - 0.5),
        corner(to).y - 2};
    std::string path = fmt::format("M{:.1f} {:.1f}", at.x, at.y);
    const auto curve = [&](At next) {
      const double half = (at.y + next.y) / 2;
      path += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", at.x, half, next.x, half,
                          next.x, next.y);
      at = next;
    };
    const std::vector<At>& bends = edges_[edge].bends;
    for (std::size_t k = 0; k + 1 < bends.size(); k += 2) {
      curve({bends[k].x + left_, bends[k].y + kHead});
      at.y = bends[k + 1].y + kHead;
      path += fmt::format(" V{:.1f}", at.y);
    }
    curve({end.x, end.y - 4});
    const bool descriptor = flow_.data[port.datum].descriptor;
    const std::string_view color = descriptor ? kDescriptorEdge : kEdge;
    const std::string_view dashes = descriptor ? "5 4" : "";
    svg_.path(path, {.color = color, .width = 1.4, .dashes = dashes});
    svg_.polygon(
        std::array{At{end.x, end.y + 1}, At{end.x - 4, end.y - 7}, At{end.x + 4, end.y - 7}},
        color);
  }

  // ---- Around it

  /// Returns its width.
  double draw_head() {
    const std::string title = shortened(caption_.expression, kLongestTitle);
    svg_.text({kMargin, 34}, title, {.size = 19, .bold = true, .monospace = true});
    svg_.text({kMargin, 54}, operations_text(operations_), {.size = 12, .color = "#666666"});
    return 11.6 * static_cast<double>(title.size());
  }

  /// Returns its height.
  double draw_legend(double y) {
    double row = y + 8;
    const auto line = [&](const std::string& text) {
      svg_.text({kMargin + 34, row + 11}, text, {.size = 12, .color = "#444444"});
      legend_width_ =
          std::max(legend_width_, 34 + kTextCharacter * static_cast<double>(text.size()));
      row += kLegendRow;
    };
    for (const std::size_t level : levels_) {
      svg_.rectangle({kMargin, row}, 24, 14, look_of(level).fill,
                     {.color = look_of(level).border, .width = 1.2}, 3);
      line(level == 0   ? "once, outside of all { }"
           : level == 1 ? "for all elements of { } at once"
                        : fmt::format("for all elements of {} nested {{ }} at once", level));
    }
    if (std::any_of(ports_.begin(), ports_.end(),
                    [&](const Port& port) { return flow_.data[port.datum].descriptor; })) {
      svg_.line({kMargin, row + 7}, {kMargin + 24, row + 7},
                {.color = kDescriptorEdge, .width = 1.4, .dashes = "5 4"});
      line("lengths of segments");
    }
    return row - y;
  }

  const DataFlow& flow_;
  const Caption& caption_;
  Svg svg_;
  std::set<std::size_t> needed_;  // data that are drawn
  std::vector<Content> contents_;
  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
  std::vector<Port> ports_;                      // of the edges
  std::map<std::size_t, std::size_t> place_of_;  // vertices of data
  std::map<std::size_t, std::size_t> arriving_;  // number of edges to a vertex
  std::set<std::size_t> levels_;
  std::size_t operations_ = 0;
  double left_ = 0;  // of the graph
  double legend_width_ = 0;
};

}  // namespace

std::string operations_text(std::size_t count) {
  return fmt::format("{} vector operation{}", count, count == 1 ? "" : "s");
}

Drawn picture(const DataFlow& flow, const Caption& caption) {
  return Picture(flow, caption).draw();
}

}  // namespace neslc::graph
