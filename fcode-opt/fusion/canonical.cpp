#include "fcode-opt/fusion/canonical.hpp"

#include <bit>
#include <cstdint>

#include "vcode/kernel_words.hpp"

namespace fcode {
namespace {

/// Writes numbers and texts so that different sequences give different keys.
class KeyWriter {
 public:
  // Seven bits a character, which says whether others follow: most numbers are small.
  template <typename Number>
  void number(Number value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (; rest >= 0x80; rest >>= 7) key_ += static_cast<char>(0x80 | (rest & 0x7f));
    key_ += static_cast<char>(rest);
  }

  void thunk(const vcode::Thunk& thunk) {
    number(thunk.nodes.size());
    for (const vcode::ThunkNode& node : thunk.nodes) {
      number(node.kind);
      number(node.type);
      number(node.op);
      number(node.written);
      number(node.id);
      for (std::uint32_t argument : node.args) number(argument);
      number(node.int_value);
      number(std::bit_cast<std::uint64_t>(node.float_value));
    }
    number(thunk.results.size());
    for (std::uint32_t result : thunk.results) number(result);
  }

  void space(const vcode::Space& space) {
    number(space.segmented);
    number(space.id);
  }

  void binding(const vcode::Binding& binding) {
    number(binding.kind);
    space(binding.space);
    number(binding.arrays.size());
    for (std::uint32_t id : binding.arrays) number(id);
    number(binding.segdes.size());
    for (std::uint32_t id : binding.segdes) number(id);
    number(binding.size);
    for (const vcode::Thunk* part : vcode::thunks_of(binding)) thunk(*part);
    number(binding.writes.size());
    for (const vcode::TableWrite& write : binding.writes) number(write.operand);
    number(binding.rounds);
    number(binding.depth);
    number(binding.into.has_value());
    if (binding.into) space(*binding.into);
    number(binding.classes);
    number(binding.monoids.size());
    for (const vcode::Monoid& monoid : binding.monoids) {
      number(monoid.op);
      number(monoid.type);
    }
    number(binding.exits);
    number(binding.message.size());
    key_ += binding.message;
  }

  void parameters(const std::vector<vcode::KernelParameter>& parameters) {
    number(parameters.size());
    for (const vcode::KernelParameter& parameter : parameters) {
      number(parameter.segdes);
      number(parameter.id);
    }
  }

  std::string take(const vcode::Kernel& kernel) {
    number(kernel.sizes.size());
    for (const vcode::KernelSize& size : kernel.sizes) number(size.literal.value_or(-1));
    number(kernel.arrays.size());
    for (const vcode::KernelArray& array : kernel.arrays) {
      number(array.type);
      number(array.length);
    }
    number(kernel.segdes.size());
    for (const vcode::KernelSegdes& segdes : kernel.segdes) {
      number(segdes.count);
      number(segdes.total);
    }
    parameters(kernel.inputs);
    parameters(kernel.outputs);
    number(kernel.bindings.size());
    for (const vcode::Binding& part : kernel.bindings) binding(part);
    number(kernel.spec.size());
    for (const vcode::Instruction& instruction : kernel.spec) {
      number(instruction.op);
      number(instruction.type);
      number(instruction.a);
      number(instruction.b);
    }
    return std::move(key_);
  }

 private:
  std::string key_;
};

/// The function that a kernel is named after: that of its text, as far as VCODE can spell the name.
std::string base_name(const Module& module, const Function& function, const Origin& origin) {
  const bool known = origin.scope < module.scopes.size();
  const std::string& name = known ? module.scopes[origin.scope].function : function.name;
  return vcode::can_name_in_kernels(name) ? name : function.name;
}

}  // namespace

std::string kernel_key(const vcode::Kernel& kernel) {
  return KeyWriter().take(kernel);
}

KernelPool::KernelPool(Module& module) : module_(module) {
  for (std::uint32_t i = 0; i < module.kernels.size(); ++i) {
    known_.try_emplace(kernel_key(module.kernels[i]), i);
    names_.try_emplace(module.kernels[i].name, 1);
  }
}

std::uint32_t KernelPool::add(vcode::Kernel kernel, const Function& function,
                              const Origin& origin) {
  const auto next = static_cast<std::uint32_t>(module_.kernels.size());
  const auto [place, is_new] = known_.try_emplace(kernel_key(kernel), next);
  if (!is_new) return place->second;
  std::string base = base_name(module_, function, origin);
  if (origin.span) base += "." + std::to_string(origin.span.line);
  kernel.name = base;
  for (std::uint32_t& count = names_[base]; count != 0 && names_.count(kernel.name) != 0;) {
    kernel.name = base + "." + std::to_string(++count);
  }
  names_[kernel.name] = 1;
  module_.kernels.push_back(std::move(kernel));
  return next;
}

}  // namespace fcode
