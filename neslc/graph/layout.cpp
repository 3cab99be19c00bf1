#include "neslc/graph/layout.hpp"

#include <algorithm>
#include <limits>

namespace neslc::graph {
namespace {

constexpr double kGap = 26;       // between neighbours
constexpr double kLayerGap = 44;  // between layers
constexpr double kBendWidth = 8;  // of an edge that passes a layer
constexpr int kOrderSweeps = 12;  // to reduce crossings
constexpr int kPlaceSweeps = 40;  // to straighten edges

/// A vertex, or an edge that passes a layer.
struct Item {
  std::size_t layer = 0;
  double width = 0;
  double center = 0;
  std::vector<std::size_t> above = {}, below = {};  // neighbours
};

class Layout {
 public:
  Layout(std::vector<Vertex>& vertices, std::vector<Edge>& edges)
      : vertices_(vertices), edges_(edges) {
    find_layers();
    make_items();
  }

  Size run() {
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) order(sweep % 2 == 0);
    place_tightly();
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) place(sweep % 2 == 0);
    return finish();
  }

 private:
  void find_layers() {
    layer_.assign(vertices_.size(), 0);
    // Each pass settles at least the vertices of one more layer.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Edge& edge : edges_) {
        if (layer_[edge.to] > layer_[edge.from]) continue;
        layer_[edge.to] = layer_[edge.from] + 1;
        changed = true;
      }
    }
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if (!vertices_[i].source) continue;
      std::size_t first = kNowhere;
      for (const Edge& edge : edges_) {
        if (edge.from == i) first = std::min(first, layer_[edge.to]);
      }
      if (first != kNowhere) layer_[i] = first - 1;
    }
  }

  void make_items() {
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      items_.push_back({.layer = layer_[i], .width = vertices_[i].width});
    }
    for (const Edge& edge : edges_) {
      std::size_t from = edge.from;
      std::vector<std::size_t>& bends = bends_.emplace_back();
      for (std::size_t layer = layer_[edge.from] + 1; layer < layer_[edge.to]; ++layer) {
        items_.push_back({.layer = layer, .width = kBendWidth});
        connect(from, items_.size() - 1);
        from = items_.size() - 1;
        bends.push_back(from);
      }
      connect(from, edge.to);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (layers_.size() <= items_[i].layer) layers_.resize(items_[i].layer + 1);
      layers_[items_[i].layer].push_back(i);
    }
  }

  void connect(std::size_t from, std::size_t to) {
    items_[from].below.push_back(to);
    items_[to].above.push_back(from);
  }

  /// Orders each layer by the mean position of the neighbours in the layer before it.
  void order(bool downward) {
    std::vector<double> position(items_.size());
    const auto number = [&](const std::vector<std::size_t>& layer) {
      for (std::size_t k = 0; k < layer.size(); ++k) position[layer[k]] = static_cast<double>(k);
    };
    for (const auto& layer : layers_) number(layer);
    for_each_layer(downward, [&](std::vector<std::size_t>& layer) {
      std::vector<double> wanted = position;
      for (const std::size_t i : layer) {
        const auto& neighbours = downward ? items_[i].above : items_[i].below;
        if (neighbours.empty()) continue;
        double sum = 0;
        for (const std::size_t neighbour : neighbours) sum += position[neighbour];
        wanted[i] = sum / static_cast<double>(neighbours.size());
      }
      std::stable_sort(layer.begin(), layer.end(),
                       [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
      number(layer);
    });
  }

  template <class Action>
  void for_each_layer(bool downward, const Action& action) {
    if (downward) {
      for (auto& layer : layers_) action(layer);
    } else {
      for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) action(*layer);
    }
  }

  double distance(std::size_t left, std::size_t right) const {
    return (items_[left].width + items_[right].width) / 2 + kGap;
  }

  void place_tightly() {
    for (const auto& layer : layers_) {
      double x = 0;
      for (const std::size_t i : layer) {
        items_[i].center = x + items_[i].width / 2;
        x += items_[i].width + kGap;
      }
    }
  }

  /// Moves the vertices of each layer below (or above) their neighbours, as far as there is room.
  void place(bool downward) {
    for_each_layer(downward, [&](const std::vector<std::size_t>& layer) {
      std::vector<double> wanted;
      for (const std::size_t i : layer) {
        const auto& neighbours = downward ? items_[i].above : items_[i].below;
        double sum = 0;
        for (const std::size_t neighbour : neighbours) sum += items_[neighbour].center;
        wanted.push_back(neighbours.empty() ? items_[i].center
                                            : sum / static_cast<double>(neighbours.size()));
      }
      // Pushed apart to the right, and to the left: the mean of both leaves room too.
      std::vector<double> right = wanted, left = wanted;
      for (std::size_t k = 1; k < layer.size(); ++k) {
        right[k] = std::max(right[k], right[k - 1] + distance(layer[k - 1], layer[k]));
      }
      for (std::size_t k = layer.size(); k-- > 1;) {
        left[k - 1] = std::min(left[k - 1], left[k] - distance(layer[k - 1], layer[k]));
      }
      for (std::size_t k = 0; k < layer.size(); ++k) {
        items_[layer[k]].center = (left[k] + right[k]) / 2;
      }
    });
  }

  Size finish() {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Item& item : items_) {
      low = std::min(low, item.center - item.width / 2);
      high = std::max(high, item.center + item.width / 2);
    }
    double y = 0;
    for (const auto& layer : layers_) {
      double height = 0;
      for (const std::size_t i : layer) {
        if (i < vertices_.size()) height = std::max(height, vertices_[i].height);
      }
      for (const std::size_t i : layer) {
        if (i >= vertices_.size()) continue;
        Vertex& vertex = vertices_[i];
        // Constants stand close to what needs them.
        const double down = vertex.source ? height - vertex.height : 0;
        vertex.corner = {items_[i].center - vertex.width / 2 - low, y + down};
      }
      tops_.push_back(y);
      heights_.push_back(height);
      y += height + kLayerGap;
    }
    for (std::size_t k = 0; k < edges_.size(); ++k) {
      for (const std::size_t i : bends_[k]) {
        const std::size_t layer = items_[i].layer;
        edges_[k].bends.push_back({items_[i].center - low, tops_[layer]});
        edges_[k].bends.push_back({items_[i].center - low, tops_[layer] + heights_[layer]});
      }
    }
    return {high - low, std::max(0.0, y - kLayerGap)};
  }

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::vector<Vertex>& vertices_;
  std::vector<Edge>& edges_;
  std::vector<std::size_t> layer_;  // of each vertex
  std::vector<Item> items_;         // first the vertices
  std::vector<std::vector<std::size_t>> bends_;
  std::vector<std::vector<std::size_t>> layers_;  // items from left to right
  std::vector<double> tops_, heights_;            // of the layers
};

}  // namespace

Size lay_out(std::vector<Vertex>& vertices, std::vector<Edge>& edges) {
  return Layout(vertices, edges).run();
}

}  // namespace neslc::graph
