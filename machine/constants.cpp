#include "machine/constants.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <variant>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "vcode/numbers.hpp"

namespace vinterp {
namespace {

using cvl::Backend;
using vcode::Constant;
using vcode::Type;

template <class To, class From>
cvl::Vector upload_as(Backend& backend, Type type, const std::vector<From>& elements) {
  const auto length = static_cast<std::int64_t>(elements.size());
  if constexpr (std::is_same_v<To, From>) {
    return backend.upload(type, elements.data(), length);
  } else {
    const std::vector<To> narrowed(elements.begin(), elements.end());
    return backend.upload(type, narrowed.data(), length);
  }
}

cvl::Vector upload_ints(Backend& backend, const std::vector<std::int64_t>& elements) {
  return backend.widths().int_bytes == 8 ? upload_as<std::int64_t>(backend, Type::Int, elements)
                                         : upload_as<std::int32_t>(backend, Type::Int, elements);
}

cvl::Vector upload_codes(Backend& backend, const std::vector<std::int64_t>& codes) {
  std::string characters(codes.size(), '\0');
  std::transform(codes.begin(), codes.end(), characters.begin(),
                 [](std::int64_t code) { return static_cast<char>(code); });
  return backend.upload_characters(characters);
}

cvl::Value upload_constant(Backend& backend, const Constant& constant) {
  switch (constant.type) {
    case Type::Float:
      return backend.widths().float_bytes == 8
                 ? upload_as<double>(backend, Type::Float, constant.floats())
                 : upload_as<float>(backend, Type::Float, constant.floats());
    case Type::Bool:
      return backend.upload(Type::Bool, constant.bools().data(),
                            static_cast<std::int64_t>(constant.size()));
    case Type::Segdes:
      if (constant.size() == 1) return cvl::Segdes::single(constant.ints()[0]);
      return cvl::make_segdes(backend, upload_ints(backend, constant.ints()));
    default:
      if (constant.form == vcode::ConstantForm::String)
        return upload_codes(backend, constant.ints());
      return upload_ints(backend, constant.ints());
  }
}

/// The place of the instruction that pushes constant `index`.
vcode::Span place_of(const vcode::LinkedProgram& program, std::size_t index) {
  const auto found = std::find_if(
      program.code.begin(), program.code.end(), [index](const vcode::Instruction& instruction) {
        return instruction.op == vcode::Op::Const && instruction.a == index;
      });
  return found == program.code.end() ? vcode::Span{} : found->span;
}

/// Reports the integers that need more than 32 bits; true if there are none.
bool check_width(const vcode::LinkedProgram& program, std::size_t index,
                 vcode::Diagnostics& diagnostics) {
  const Constant& constant = program.constants[index];
  std::size_t wide = 0;
  for (const std::int64_t number : constant.ints()) {
    if (vcode::fits_32_bits(number)) continue;
    vcode::Diagnostic diagnostic;
    diagnostic.code = vcode::ErrorCode::NumberOutOfRange;
    diagnostic.message = fmt::format("{} does not fit a 32-bit INT", number);
    diagnostic.span = wide < constant.element_spans.size() ? constant.element_spans[wide]
                                                           : place_of(program, index);
    diagnostic.hint = "run with --int=64";
    diagnostics.add(std::move(diagnostic));
    ++wide;
  }
  return wide == 0;
}

/// Finds vectors that were met before: inlined functions and kernels repeat them.
class Repeated {
 public:
  explicit Repeated(const std::vector<Constant>& constants) : constants_(constants) {}

  /// The first constant that is equal to this one, itself if there is none.
  std::size_t first_equal(std::size_t index) {
    const Constant& constant = constants_[index];
    if (constant.size() <= kFewElements) return index;
    const std::size_t key = hash(constant);
    const auto [begin, end] = known_.equal_range(key);
    const auto equal = std::find_if(
        begin, end, [&](const auto& known) { return constants_[known.second] == constant; });
    if (equal != end) return equal->second;
    known_.emplace(key, index);
    return index;
  }

 private:
  // Up to so many lie in the value itself.
  static constexpr std::size_t kFewElements = 2;

  static std::size_t hash(const Constant& constant) {
    return std::visit(
        [](const auto& elements) {
          return std::hash<std::string_view>()({reinterpret_cast<const char*>(elements.data()),
                                                elements.size() * sizeof elements[0]});
        },
        constant.elements);
  }

  const std::vector<Constant>& constants_;
  std::unordered_multimap<std::size_t, std::size_t> known_;
};

}  // namespace

std::vector<cvl::Value> load_constants(const vcode::LinkedProgram& program, Backend& backend,
                                       vcode::Diagnostics& diagnostics) {
  std::vector<cvl::Value> values;
  values.reserve(program.constants.size());
  Repeated repeated(program.constants);
  for (std::size_t index = 0; index < program.constants.size(); ++index) {
    const Constant& constant = program.constants[index];
    const bool integers = std::holds_alternative<std::vector<std::int64_t>>(constant.elements);
    if (integers && backend.widths().int_bytes == 4 && !check_width(program, index, diagnostics)) {
      continue;
    }
    try {
      const std::size_t first = diagnostics.has_errors() ? index : repeated.first_equal(index);
      values.push_back(first < index ? values[first] : upload_constant(backend, constant));
    } catch (const cvl::Failure& failure) {
      vcode::Diagnostic diagnostic = diagnostic_of(failure);
      diagnostic.span = place_of(program, index);
      diagnostics.add(std::move(diagnostic));
      break;  // most likely out of memory: what follows would fail too
    }
  }
  return values;
}

}  // namespace vinterp
