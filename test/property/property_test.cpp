// Every vector operation of the table, in every type and width, on every shape, against the
// reference evaluator. The lists of operations come from the table: a new row is tested as soon as
// it is there.
#include <iostream>

#include <catch2/catch.hpp>

#include "property/harness.hpp"

namespace {

using property::Harness;
using property::OperandChoice;
using property::Shape;
using vcode::Family;
using vcode::Type;

// One broken operation should not fill the screen.
constexpr int kMaxReports = 3;

class Matrix {
 public:
  /// All operations of the families, `rounds` times on each shape with new data.
  Matrix(std::vector<Family> families, std::vector<cvl::Widths> widths)
      : families_(std::move(families)), widths_(std::move(widths)) {
    std::cout << "NESL_TEST_SEED=" << property::test_seed() << std::endl;
  }

  void run(std::vector<Shape> (*shapes)(property::Random&), int rounds) {
    for (const cvl::Widths& widths : widths_) {
      Harness harness(widths, property::test_seed());
      const std::vector<Shape> all = shapes(harness.random());
      for (const vcode::OpInfo& row : vcode::all_ops()) {
        if (std::find(families_.begin(), families_.end(), row.family) == families_.end()) continue;
        for (const Type type : property::types_of(row))
          run_operation(harness, row.op, type, all, rounds);
      }
    }
  }

 private:
  static void run_operation(Harness& harness, vcode::Op op, Type type,
                            const std::vector<Shape>& shapes, int rounds) {
    int reports = 0;
    int checks = 0;
    for (const Shape& shape : shapes) {
      for (int round = 0; round < rounds && reports < kMaxReports; ++round) {
        const OperandChoice choice{op, type, harness.widths(), round % 2 == 1 || rounds == 1,
                                   round % 3 == 1};
        const auto operands = property::make_operands(choice, shape, harness.random());
        const std::string differs = harness.check(choice, operands);
        ++checks;
        if (differs.empty()) continue;
        ++reports;
        FAIL_CHECK(property::label(choice) << ", shape `" << shape.name << "`: " << differs);
      }
    }
    CHECK(checks > 0);
  }

  std::vector<Family> families_;
  std::vector<cvl::Widths> widths_;
};

const std::vector<Family> kElementwise = {Family::Elementwise, Family::Random, Family::Length};
const std::vector<Family> kFolds = {Family::Scan, Family::Reduce};
const std::vector<Family> kMoves = {Family::Permute, Family::Extract, Family::Replace,
                                    Family::Pack};
const std::vector<Family> kDescriptors = {Family::Distribute, Family::Index, Family::MakeSegdes,
                                          Family::Lengths};
const std::vector<Family> kOrders = {Family::Rank, Family::Sort};
const std::vector<Family> kCombinations = {Family::Combine};

// Small shapes are cheap: they see all layouts several times. Under sanitizers what counts are the
// accesses, which other numbers and widths do not change much.
int small_rounds() {
  return property::shrink_factor() > 1 ? 2 : 6;
}
std::vector<cvl::Widths> small_widths() {
  if (property::shrink_factor() > 1) return {{4, 8}, {8, 4}};
  return property::all_widths();
}

}  // namespace

#define PROPERTY_CASES(name, families)                                            \
  TEST_CASE(name " on small shapes", "[small]") {                                 \
    Matrix(families, small_widths()).run(property::small_shapes, small_rounds()); \
  }                                                                               \
  TEST_CASE(name " on medium shapes", "[medium]") {                               \
    Matrix(families, {{8, 4}}).run(property::medium_shapes, 1);           \
  }                                                                               \
  TEST_CASE(name " on large shapes", "[large]") {                                 \
    Matrix(families, {{4, 8}}).run(property::large_shapes, 1);                    \
  }

PROPERTY_CASES("elementwise operations", kElementwise)
PROPERTY_CASES("scans and reductions", kFolds)
PROPERTY_CASES("moving operations", kMoves)
PROPERTY_CASES("descriptor operations", kDescriptors)
PROPERTY_CASES("ranks and sorting", kOrders)
PROPERTY_CASES("combinations", kCombinations)
