#include "vcode/kernel_printer.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "vcode/kernel_words.hpp"
#include "vcode/thunk_printer.hpp"

namespace vcode {
namespace {

using Kind = Binding::Kind;

class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, std::string& text)
      : kernel_(kernel), text_(text), thunks_(kernel, text) {}

  void run();

 private:
  void comment(std::string_view comment, std::string_view indent);
  void parameters(std::string_view word, const std::vector<KernelParameter>& list);
  void binding(const Binding& binding);
  void combinator(const Binding& binding);
  void next_thunk(const Thunk& thunk);
  std::string size(SizeId id) const;
  std::string space(Space space) const;
  std::string results(const Binding& binding) const;

  const Kernel& kernel_;
  std::string& text_;
  ThunkPrinter thunks_;
};

void KernelPrinter::run() {
  comment(kernel_.comment, "");
  text_ += fmt::format("KERNEL {}\n", kernel_.name);
  parameters("IN", kernel_.inputs);
  parameters("OUT", kernel_.outputs);
  text_ += "DO\n";
  for (const Binding& each : kernel_.bindings) {
    comment(each.comment, "  ");
    binding(each);
  }
}

void KernelPrinter::comment(std::string_view comment, std::string_view indent) {
  if (comment.empty()) return;
  std::string shown(comment);
  std::replace(shown.begin(), shown.end(), '}', ')');  // which would end it
  text_ += fmt::format("{}{{ {} }}\n", indent, shown);
}

void KernelPrinter::parameters(std::string_view word, const std::vector<KernelParameter>& list) {
  text_ += word;
  bool first = true;
  for (KernelParameter parameter : list) {
    text_ += first ? (word == "IN" ? "  " : " ") : ",\n    ";
    first = false;
    if (parameter.segdes) {
      const KernelSegdes& segdes = kernel_.segdes[parameter.id];
      text_ += fmt::format("{} : SEG {} {}", segdes.name, size(segdes.count), size(segdes.total));
    } else {
      const KernelArray& array = kernel_.arrays[parameter.id];
      text_ += fmt::format("{} : VEC {} {}", array.name, type_name(array.type), size(array.length));
    }
  }
  text_ += '\n';
}

std::string KernelPrinter::size(SizeId id) const {
  const KernelSize& size = kernel_.sizes[id];
  return size.literal ? std::to_string(*size.literal) : size.name;
}

std::string KernelPrinter::space(Space space) const {
  return space.segmented ? kernel_.segdes[space.id].name : size(space.id);
}

// The names on the left of `=`, those of a filter class by class.
std::string KernelPrinter::results(const Binding& binding) const {
  std::string names;
  const auto add = [&](const std::string& name) {
    if (!names.empty()) names += ", ";
    names += name;
  };
  const std::size_t components = binding.elements.results.size();
  const bool filters = binding.kind == Kind::Filter || binding.kind == Kind::Split;
  for (std::size_t i = 0; i < binding.arrays.size(); ++i) {
    add(kernel_.arrays[binding.arrays[i]].name);
    if (filters && i % components == components - 1) {
      add(kernel_.segdes[binding.segdes[i / components]].name);
    }
  }
  if (binding.kind == Kind::Segments) add(kernel_.segdes[binding.segdes[0]].name);
  return names;
}

void KernelPrinter::binding(const Binding& binding) {
  text_ += "  ";
  if (binding.kind == Kind::Size) {
    text_ += fmt::format("SIZE {} =", size(binding.size));
    thunks_.body(binding.elements);
  } else if (binding.kind == Kind::Assert) {
    text_ += fmt::format("ASSERT {} ", space(binding.space));
    thunks_.thunk(binding.elements);
    text_ += fmt::format(" \"{}\"{}", binding.message, binding.exits ? " EXIT" : "");
  } else {
    text_ += fmt::format("{} = ", results(binding));
    combinator(binding);
  }
  text_ += '\n';
}

void KernelPrinter::combinator(const Binding& binding) {
  text_ += combinator_name(binding.kind);
  if (binding.kind == Kind::Once) {
    thunks_.body(binding.elements);
    return;
  }
  if (binding.kind == Kind::Split) text_ += fmt::format(" {}", binding.classes);
  text_ += fmt::format(" {}", space(binding.space));
  next_thunk(binding.elements);
  if (binding.kind == Kind::Filter || binding.kind == Kind::Split) next_thunk(binding.flags);
  if (binding.kind == Kind::Scatter) {
    next_thunk(binding.index);
    if (!binding.flags.results.empty()) {
      text_ += " WHEN";
      next_thunk(binding.flags);
    }
    text_ += fmt::format(" INTO {}", space(*binding.into));
    if (!binding.defaults.results.empty()) next_thunk(binding.defaults);
  }
  if (binding.kind == Kind::Iterate) {
    const std::size_t components = binding.elements.results.size();
    text_ += "\n    WHILE ";
    thunks_.of_state(binding.flags, components);
    text_ += "\n    DO ";
    thunks_.of_state(binding.next, components);
    if (!binding.push.results.empty()) {
      text_ += "\n    PUSH ";
      thunks_.of_state(binding.push, components);
      text_ += "\n    POP ";
      thunks_.of_state(binding.pop, components);
      text_ += fmt::format("\n    DEPTH {}", binding.depth);
    }
    for (const TableWrite& write : binding.writes) {
      text_ += fmt::format("\n    WRITE {} ", kernel_.arrays[write.operand].name);
      thunks_.of_state(write.thunk, components);
    }
    text_ += fmt::format("\n    ROUNDS {}", binding.rounds);
  }
  for (std::size_t i = 0; i < binding.monoids.size(); ++i) {
    text_ += fmt::format("{} {}", i == 0 ? "" : ",", monoid_text(binding.monoids[i]));
  }
}

void KernelPrinter::next_thunk(const Thunk& thunk) {
  text_ += ' ';
  thunks_.thunk(thunk);
}

}  // namespace

void print_kernel_head(const Kernel& kernel, std::string& text) {
  KernelPrinter(kernel, text).run();
}

}  // namespace vcode
