#include <cmath>
#include <utility>
#include <vector>

#include "peer.hpp"

using namespace peer;

constexpr double kTheta = 0.5;

struct Body {
  double x, y, mass;
};

struct Force {
  double x, y;
};

// A square with the bodies in it: all that acts as one body if the square looks small.
struct Cell {
  double mass, x, y, width;
  int first_child;  // the children stand side by side; none: -1
  int children;
};

// Bodies in the four quarters of a square, one after another.
std::vector<Body> quartered(const Body* begin, const Body* end, double x, double y,
                            std::size_t (&ends)[4]) {
  std::vector<Body> result;
  result.reserve(static_cast<std::size_t>(end - begin));
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    for (const Body* b = begin; b != end; ++b) {
      if ((b->x >= x) + 2u * (b->y >= y) == quarter) result.push_back(*b);
    }
    ends[quarter] = result.size();
  }
  return result;
}

// Fills in tree[cell], and puts its descendants at the end.
void build(std::vector<Cell>& tree, int cell, const Body* begin, const Body* end, double x,
           double y, double width) {
  Cell summary{0, 0, 0, width, -1, 0};
  for (const Body* b = begin; b != end; ++b) {
    summary.mass += b->mass;
    summary.x += b->x * b->mass;
    summary.y += b->y * b->mass;
  }
  summary.x /= summary.mass;
  summary.y /= summary.mass;
  if (end - begin < 2 || width <= 0.000001) {
    tree[static_cast<std::size_t>(cell)] = summary;
    return;
  }
  std::size_t ends[4];
  const std::vector<Body> bodies = quartered(begin, end, x, y, ends);
  const auto begin_of = [&](std::size_t q) { return q == 0 ? 0 : ends[q - 1]; };
  summary.first_child = static_cast<int>(tree.size());
  for (std::size_t q = 0; q < 4; ++q) summary.children += ends[q] > begin_of(q);
  tree[static_cast<std::size_t>(cell)] = summary;
  tree.resize(tree.size() + static_cast<std::size_t>(summary.children));
  int child = summary.first_child;
  for (std::size_t q = 0; q < 4; ++q) {
    if (ends[q] == begin_of(q)) continue;
    build(tree, child++, bodies.data() + begin_of(q), bodies.data() + ends[q],
          x + (q % 2 == 1 ? width / 4 : -width / 4), y + (q >= 2 ? width / 4 : -width / 4),
          width / 2);
  }
}

Force force_on(const Body& body, const std::vector<Cell>& tree) {
  Force force{0, 0};
  int stack[256] = {0};
  int height = 1;
  while (height > 0) {
    const Cell& cell = tree[static_cast<std::size_t>(stack[--height])];
    const double dx = cell.x - body.x;
    const double dy = cell.y - body.y;
    const double distance2 = dx * dx + dy * dy;
    if (cell.first_child < 0 || cell.width * cell.width < kTheta * kTheta * distance2) {
      const double d2 = distance2 + 0.0001;
      const double pull = cell.mass / (d2 * std::sqrt(d2));
      force.x += pull * dx;
      force.y += pull * dy;
    } else {
      for (int k = 0; k < cell.children; ++k) stack[height++] = cell.first_child + k;
    }
  }
  return force;
}

Array<Force> forces(const Array<Body>& bodies) {
  std::vector<Cell> tree(1);
  build(tree, 0, bodies.begin(), bodies.end(), 0.5, 0.5, 1.0);
  Array<Force> result(bodies.size());
  parallel_for(
      bodies.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) result[i] = force_on(bodies[i], tree);
      },
      64);
  return result;
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return generate(n, [](std::size_t i) {
          return Body{unit(i, 1), unit(i, 2), 0.5 + unit(i, 3)};
        });
      },
      forces,
      [](const Array<Body>&, const Array<Force>& found) {
        print(static_cast<Int>(found.size()));
        print(weighted_sum(found.size(),
                           [&](std::size_t i) { return found[i].x + 2.0 * found[i].y; }));
      });
}
