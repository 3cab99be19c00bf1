#include "vinterp/kernel_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "vcode/parser.hpp"

namespace vinterp {
namespace {

using vcode::ErrorCode;

void check_width(std::string_view type, std::string_view option, std::optional<int> demanded,
                 int bytes, vcode::Diagnostics& diagnostics) {
  if (!demanded || *demanded == 8 * bytes) return;
  vcode::Diagnostic diagnostic;
  diagnostic.code = ErrorCode::KernelWidth;
  diagnostic.message =
      fmt::format("the program is for {} of {} bits, this run has {}", type, *demanded, 8 * bytes);
  diagnostic.hint = fmt::format("run it with {}={}", option, *demanded);
  diagnostics.add(std::move(diagnostic));
}

/// Does the order in which it combines show in the result?
bool depends_on_order(const vcode::Monoid& monoid) {
  return monoid.type == vcode::Type::Float &&
         (monoid.op == vcode::Op::AddReduce || monoid.op == vcode::Op::MultiplyReduce);
}

std::int64_t length_of(const cvl::Value& value, bool described) {
  if (value.type() != vcode::Type::Segdes) return value.vector().length;
  return described ? value.segdes().total : value.segdes().count;
}

/// The lengths that are mentioned before, or are numbers.
std::vector<KernelLength> lengths_of(const vcode::Kernel& kernel) {
  struct Mention {
    vcode::SizeId size;
    std::uint32_t operand;
    bool described;
  };
  std::vector<Mention> mentions;
  std::vector<KernelLength> lengths;
  const auto mention = [&](vcode::SizeId size, std::uint32_t operand, bool described) {
    KernelLength length{operand, described, 0, false, kernel.sizes[size].literal};
    const auto before = std::find_if(mentions.begin(), mentions.end(), [&](const Mention& other) {
      return vcode::same_size(kernel, other.size, size);
    });
    const bool again = before != mentions.end();
    if (again) {
      length.like = before->operand;
      length.like_described = before->described;
    } else {
      mentions.push_back({size, operand, described});
    }
    if (length.number || again) lengths.push_back(length);
  };
  for (std::uint32_t i = 0; i < kernel.inputs.size(); ++i) {
    const vcode::KernelParameter input = kernel.inputs[i];
    if (input.segdes) {
      mention(kernel.segdes[input.id].count, i, false);
      mention(kernel.segdes[input.id].total, i, true);
    } else {
      mention(kernel.arrays[input.id].length, i, false);
    }
  }
  return lengths;
}

}  // namespace

bool LoadedKernel::lengths_fit(const cvl::Value* operands) const {
  return std::all_of(lengths.begin(), lengths.end(), [&](const KernelLength& length) {
    const std::int64_t wanted =
        length.number ? *length.number : length_of(operands[length.like], length.like_described);
    return length_of(operands[length.operand], length.described) == wanted;
  });
}

void check_demands(const vcode::LinkedProgram& program, const cvl::Widths& widths,
                   vcode::Diagnostics& diagnostics) {
  if (!program.fcode) return;
  check_width("INT", "--int", program.fcode->int_width, widths.int_bytes, diagnostics);
  check_width("FLOAT", "--float", program.fcode->float_width, widths.float_bytes, diagnostics);
  if (!program.fcode->strict_fp) return;
  for (const vcode::LinkedKernel& kernel : program.kernels) {
    for (const vcode::Binding& binding : kernel.definition.bindings) {
      if (std::none_of(binding.monoids.begin(), binding.monoids.end(), depends_on_order)) continue;
      vcode::Diagnostic diagnostic;
      diagnostic.code = ErrorCode::NoSpec;
      diagnostic.message =
          "`FP STRICT` demands sums and products from left to right, which no vector library forms";
      diagnostic.span = binding.span;
      diagnostic.function = kernel.definition.name;
      diagnostic.hint = "write `FP REASSOC`";
      diagnostics.add(std::move(diagnostic));
    }
  }
}

LoadedKernel::LoadedKernel(const vcode::LinkedKernel& kernel)
    : definition(&kernel.definition),
      spec(kernel.spec),
      lengths(lengths_of(kernel.definition)),
      results(static_cast<std::uint32_t>(kernel.definition.outputs.size())),
      warm_up(definition->inputs.size(),
              definition->unread ? definition->unread->reach : vcode::reach_of(*definition)) {
  accepted.reserve(definition->inputs.size());
  for (const vcode::KernelParameter input : definition->inputs) {
    const auto type = static_cast<unsigned>(vcode::parameter_type(*definition, input));
    accepted.push_back(static_cast<std::uint8_t>(1u << type));
  }
}

void read_bindings(LoadedKernel& kernel, const vcode::LinkedProgram& program) {
  vcode::Diagnostics diagnostics;
  std::optional<vcode::Kernel> read =
      vcode::read_kernel(*program.source, *program.fcode, *kernel.definition, diagnostics);
  if (!read) {
    diagnostics.sort();
    const vcode::Diagnostic& first = diagnostics.all().front();
    throw cvl::Failure(first.code, first.message,
                       {fmt::format("in line {} of the kernel `{}`, whose seal fits all the same",
                                    first.span.line, kernel.definition->name)},
                       first.hint);
  }
  kernel.read = std::make_unique<const vcode::Kernel>(std::move(*read));
  kernel.definition = kernel.read.get();
}

std::vector<LoadedKernel> load_kernels(const vcode::LinkedProgram& program) {
  std::vector<LoadedKernel> kernels;
  kernels.reserve(program.kernels.size());
  for (const vcode::LinkedKernel& kernel : program.kernels) kernels.emplace_back(kernel);
  return kernels;
}

}  // namespace vinterp
