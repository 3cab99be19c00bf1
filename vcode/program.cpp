#include "vcode/program.hpp"

#include <algorithm>
#include <bit>

namespace vcode {
namespace {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_instruction(const Program& a, const Instruction& x, const Program& b,
                      const Instruction& y) {
  if (x.op != y.op) return false;
  switch (info(x.op).argument) {
    case Argument::None:
      return true;
    case Argument::Counts:
      return x.a == y.a && x.b == y.b;
    case Argument::Name:
      return a.names[x.a] == b.names[y.a];
    case Argument::Constant:
      return a.constants[x.a] == b.constants[y.a];
    default:
      return x.type == y.type;
  }
}

bool same_code(const Program& a, const std::vector<Instruction>& x, const Program& b,
               const std::vector<Instruction>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [&](const Instruction& left, const Instruction& right) {
                      return same_instruction(a, left, b, right);
                    });
}

}  // namespace

std::size_t Constant::size() const {
  return std::visit([](const auto& values) { return values.size(); }, elements);
}

bool Constant::operator==(const Constant& other) const {
  if (type != other.type || form != other.form) return false;
  if (elements.index() != other.elements.index()) return false;
  if (const auto* reals = std::get_if<std::vector<double>>(&elements)) {
    return std::equal(reals->begin(), reals->end(), other.floats().begin(), other.floats().end(),
                      same_bits);
  }
  return elements == other.elements;
}

bool same_program(const Program& a, const Program& b) {
  return a.fcode == b.fcode &&
         std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(),
                    [&](const Function& f, const Function& g) {
                      return f.name == g.name && f.has_signature == g.has_signature &&
                             f.declared_in == g.declared_in && f.declared_out == g.declared_out &&
                             same_code(a, f.code, b, g.code);
                    }) &&
         std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(),
                    [&](const Kernel& f, const Kernel& g) {
                      return same_kernel(f, g) && same_code(a, f.spec, b, g.spec);
                    });
}

const LinkedFunction& LinkedProgram::function_at(std::uint32_t index) const {
  // Functions lie one behind the other in the order of the list.
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), index,
                       [](std::uint32_t at, const LinkedFunction& f) { return at < f.begin; });
  return *(after - 1);
}

}  // namespace vcode
