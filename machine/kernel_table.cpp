#include "machine/kernel_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

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
}

LoadedKernel::LoadedKernel(const vcode::LinkedKernel& kernel)
    : definition(&kernel.definition),
      spec(kernel.spec),
      lengths(lengths_of(kernel.definition)),
      results(static_cast<std::uint32_t>(kernel.definition.outputs.size())),
      warm_up(*definition) {
  accepted.reserve(definition->inputs.size());
  for (const vcode::KernelParameter input : definition->inputs) {
    const auto type = static_cast<unsigned>(vcode::parameter_type(*definition, input));
    accepted.push_back(static_cast<std::uint8_t>(1u << type));
  }
}

std::vector<LoadedKernel> load_kernels(const vcode::LinkedProgram& program) {
  std::vector<LoadedKernel> kernels;
  kernels.reserve(program.kernels.size());
  for (const vcode::LinkedKernel& kernel : program.kernels) kernels.emplace_back(kernel);
  return kernels;
}

}  // namespace vinterp
