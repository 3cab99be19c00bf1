#include "neslc/optimize.hpp"

#include <utility>

#include "vinterp/interrupt.hpp"

namespace neslc {
namespace {

/// The optimizer keeps the spans of instructions but knows nothing of scopes. While it works, the
/// length of each span is the number of a place, which tells the true length and the scope.
class Places {
 public:
  vcode::Span number(vcode::Span span, std::uint32_t scope) {
    places_.push_back({span, scope});
    return {span.line, span.column, static_cast<std::uint32_t>(places_.size())};
  }

  /// Gives the span its length back; returns its scope.
  std::uint32_t restore(vcode::Span& span) const {
    if (span.length == 0 || span.length > places_.size()) return ir::kNoScope;
    const ir::Place& place = places_[span.length - 1];
    span = place.span;
    return place.scope;
  }

  std::vector<std::uint32_t> restore(std::vector<vcode::Instruction>& code) const {
    std::vector<std::uint32_t> scopes;
    scopes.reserve(code.size());
    for (vcode::Instruction& instruction : code) scopes.push_back(restore(instruction.span));
    return scopes;
  }

 private:
  std::vector<ir::Place> places_;
};

fcode::GivenShape shape_of(const cvl::Value& value) {
  fcode::GivenShape shape;
  if (value.type() != vcode::Type::Segdes) {
    shape.length = value.vector().length;
    return shape;
  }
  const cvl::Segdes& segdes = value.segdes();
  shape.length = segdes.count;
  shape.described = segdes.total;
  if (segdes.uniform) shape.each = segdes.uniform_length;
  return shape;
}

}  // namespace

StackCode optimize(const StackCode& code, fcode::OptimizerOptions options,
                   const std::vector<cvl::Value>& components, fcode::OptimizerReport* report) {
  vcode::Program program = code.program;
  Places places;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    vcode::Function& function = program.functions[f];
    const std::vector<std::uint32_t>& scopes = code.scopes[f];
    function.name_span = places.number(function.name_span, scopes.front());
    for (std::size_t i = 0; i < function.code.size(); ++i) {
      vcode::Span& span = function.code[i].span;
      span = places.number(span, scopes[i]);
    }
  }
  for (std::uint32_t i = 0; i < code.values.size(); ++i) {
    if (code.values[i] < 0) continue;
    options.given.push_back({i, shape_of(components[static_cast<std::size_t>(code.values[i])])});
  }
  options.stop = vinterp::must_end;
  fcode::OptimizerReport own;
  fcode::OptimizerReport& found = report != nullptr ? *report : own;
  StackCode result;
  result.program = fcode::optimize(program, options, &found);
  for (vcode::Function& function : result.program.functions) {
    places.restore(function.name_span);
    result.scopes.push_back(places.restore(function.code));
  }
  for (vcode::Kernel& kernel : result.program.kernels) {
    result.kernel_scopes.push_back(places.restore(kernel.spec));
  }
  for (const std::uint32_t constant : found.constants) {
    result.values.push_back(constant < code.values.size() ? code.values[constant] : -1);
  }
  if (found.constants.empty()) result.values = code.values;
  result.values.resize(result.program.constants.size(), -1);
  return result;
}

}  // namespace neslc
