#include "vcode/kernel_verifier.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "vcode/kernel_checks.hpp"
#include "vcode/kernel_words.hpp"
#include "vcode/name_map.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

using Kind = Binding::Kind;

void KernelChecks::fail(ErrorCode code, Span span, std::string message, std::string hint) {
  failed_ = true;
  if (!span && binding_ != nullptr) span = binding_->span;
  if (!span) span = kernel_.name_span;
  diagnostics_.add({.severity = Severity::Error,
                    .code = code,
                    .message = std::move(message),
                    .span = span,
                    .function = shortened(kernel_.name),
                    .notes = {},
                    .hint = std::move(hint)});
}

namespace {

class KernelVerifier {
 public:
  KernelVerifier(const Kernel& kernel, Diagnostics& diagnostics)
      : kernel_(kernel), checks_(kernel, diagnostics) {}

  bool run(bool parsed);

 private:
  bool ids_valid();
  bool names_valid();
  void inputs();
  void binding(const Binding& binding);
  bool space_usable(Space space);
  void thunks(const Binding& binding);
  void scatter(const Binding& binding);
  void iteration(const Binding& binding);
  void needs_bool(const Thunk& thunk, std::string_view what);
  void monoids(const Binding& binding);
  void results(const Binding& binding);
  void array_result(const Binding& binding, ArrayId id, Type type, SizeId length);
  void segdes_result(const Binding& binding, SegdesId id, SizeId count);
  void new_size(const Binding& binding, SizeId size);
  SizeId segment_count(const Binding& binding, bool& one) const;
  void outputs();

  const Kernel& kernel_;
  KernelChecks checks_;
  std::vector<bool> size_introduced_;  // by IN, SIZE, FILTER, SPLIT or SEGMENTS
};

bool KernelVerifier::run(bool parsed) {
  size_introduced_.resize(kernel_.sizes.size());
  if (!parsed && (!ids_valid() || !names_valid())) return false;
  inputs();
  for (const Binding& each : kernel_.bindings) {
    checks_.set_binding(each);
    binding(each);
  }
  if (checks_.failed()) return false;
  outputs();
  return !checks_.failed();
}

// Ids that point outside their tables come from programs only: the parser makes none.
bool KernelVerifier::ids_valid() {
  const auto space_valid = [&](Space space) {
    return space.id < (space.segmented ? kernel_.segdes.size() : kernel_.sizes.size());
  };
  const auto parameters_valid = [&](const std::vector<KernelParameter>& list) {
    return std::all_of(list.begin(), list.end(), [&](KernelParameter parameter) {
      return parameter.id < (parameter.segdes ? kernel_.segdes.size() : kernel_.arrays.size());
    });
  };
  const auto binding_valid = [&](const Binding& binding) {
    const auto valid = [](const auto& ids, std::size_t count) {
      return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id < count; });
    };
    return valid(binding.arrays, kernel_.arrays.size()) &&
           valid(binding.segdes, kernel_.segdes.size()) &&
           (binding.kind != Kind::Size || binding.size < kernel_.sizes.size()) &&
           (!has_space(binding) || space_valid(binding.space)) &&
           (!binding.into || space_valid(*binding.into)) &&
           std::all_of(
               binding.writes.begin(), binding.writes.end(),
               [&](const TableWrite& write) { return write.operand < kernel_.arrays.size(); }) &&
           (binding.kind != Kind::Scatter || binding.into) &&
           (binding.kind != Kind::Split || binding.classes > 0);
  };
  const bool valid =
      std::all_of(kernel_.arrays.begin(), kernel_.arrays.end(),
                  [&](const KernelArray& array) {
                    return array.length < kernel_.sizes.size() && is_data(array.type);
                  }) &&
      std::all_of(kernel_.segdes.begin(), kernel_.segdes.end(),
                  [&](const KernelSegdes& segdes) {
                    return segdes.count < kernel_.sizes.size() &&
                           segdes.total < kernel_.sizes.size();
                  }) &&
      parameters_valid(kernel_.inputs) && parameters_valid(kernel_.outputs) &&
      std::all_of(kernel_.bindings.begin(), kernel_.bindings.end(), binding_valid);
  if (!valid) checks_.fail(ErrorCode::Internal, {}, "a kernel that points outside its tables");
  return valid;
}

// What is written must read back: names are words, not reserved, and different.
bool KernelVerifier::names_valid() {
  NameMap<bool> seen;
  const auto valid = [&](std::string_view name) {
    if (can_name_in_kernels(name) && seen.find(name) == nullptr) {
      seen.add(name, true);
      return true;
    }
    checks_.fail(ErrorCode::KernelName, {},
                 fmt::format("`{}` is no name, or not the only one of that name", shortened(name)));
    return false;
  };
  return std::all_of(kernel_.arrays.begin(), kernel_.arrays.end(),
                     [&](const KernelArray& array) { return valid(array.name); }) &&
         std::all_of(kernel_.segdes.begin(), kernel_.segdes.end(),
                     [&](const KernelSegdes& segdes) { return valid(segdes.name); }) &&
         std::all_of(kernel_.sizes.begin(), kernel_.sizes.end(), [&](const KernelSize& size) {
           return size.literal || size.name.empty() || valid(size.name);
         });
}

void KernelVerifier::inputs() {
  const auto introduce = [&](SizeId size) {
    size_introduced_[size] = true;
    checks_.set_size_known(size);
  };
  for (KernelParameter parameter : kernel_.inputs) {
    KernelSource& source =
        parameter.segdes ? checks_.segdes(parameter.id) : checks_.array(parameter.id);
    if (source.kind != KernelSource::Kind::None) {
      checks_.fail(ErrorCode::KernelName, {}, "an operand that is named twice");
    }
    source.kind = KernelSource::Kind::Input;
    if (parameter.segdes) {
      introduce(kernel_.segdes[parameter.id].count);
      introduce(kernel_.segdes[parameter.id].total);
    } else {
      introduce(kernel_.arrays[parameter.id].length);
    }
  }
}

// ---- bindings ----

void KernelVerifier::binding(const Binding& binding) {
  if (has_space(binding) && !space_usable(binding.space)) return;
  if (binding.into && !space_usable(*binding.into)) return;
  thunks(binding);
  results(binding);
}

bool KernelVerifier::space_usable(Space space) {
  if (!space.segmented) {
    if (checks_.size_known(space.id)) return true;
    checks_.fail(
        ErrorCode::KernelSpace, {},
        fmt::format("the size `{}` is not known here", shortened(kernel_.sizes[space.id].name)));
    return false;
  }
  const KernelSource& source = checks_.segdes(space.id);
  if (source.kind == KernelSource::Kind::Input ||
      (source.kind == KernelSource::Kind::Result && source.binding == Kind::Segments)) {
    return true;
  }
  checks_.fail(ErrorCode::KernelSpace, {},
               fmt::format("the descriptor `{}` cannot be a space here: it is {}",
                           shortened(kernel_.segdes[space.id].name),
                           source.kind == KernelSource::Kind::None
                               ? "not bound yet"
                               : "no operand and no result of SEGMENTS"));
  return false;
}

void KernelVerifier::thunks(const Binding& binding) {
  ThunkPlace place{has_space(binding), binding.space, binding.kind == Kind::Once, "the elements"};
  const bool single = binding.kind == Kind::Size || binding.kind == Kind::Assert ||
                      binding.kind == Kind::Segments || binding.kind == Kind::Random;
  if (!checks_.thunk(binding.elements, place, single ? 1 : 0)) return;
  const Type type = binding.elements.nodes[binding.elements.results[0]].type;
  const auto needs = [&](Type wanted, std::string_view what) {
    if (type == wanted) return;
    checks_.fail(ErrorCode::KernelType, {},
                 fmt::format("{} {}, not {}", what, type_name(type), type_name(wanted)));
  };
  if (binding.kind == Kind::Size) needs(Type::Int, "the size is");
  if (binding.kind == Kind::Assert) needs(Type::Bool, "the condition of ASSERT is");
  if (binding.kind == Kind::Segments) needs(Type::Int, "the lengths are");
  if (binding.kind == Kind::Random) needs(Type::Int, "the bound of RAND is");
  const auto extra = [&](const Thunk& thunk, Type wanted, std::string_view what) {
    place.what = what;
    if (!checks_.thunk(thunk, place, 1)) return;
    const Type found = thunk.nodes[thunk.results[0]].type;
    if (found == wanted) return;
    checks_.fail(ErrorCode::KernelType, {},
                 fmt::format("{}: {}, not {}", what, type_name(found), type_name(wanted)));
  };
  if (binding.kind == Kind::Filter) extra(binding.flags, Type::Bool, "the predicate");
  if (binding.kind == Kind::Split) extra(binding.flags, Type::Int, "the class number");
  if (binding.kind == Kind::Scatter) {
    extra(binding.index, Type::Int, "the target position");
    if (!binding.flags.results.empty()) extra(binding.flags, Type::Bool, "the condition of WHEN");
    scatter(binding);
  }
  if (binding.kind == Kind::Iterate) iteration(binding);
  if (binding.kind == Kind::Scan || binding.kind == Kind::Reduce) monoids(binding);
}

void KernelVerifier::iteration(const Binding& binding) {
  const std::size_t components = binding.elements.results.size();
  ThunkPlace place{false, {}, false, "the condition of WHILE", &binding.elements};
  if (!checks_.thunk(binding.flags, place, 1)) return;
  needs_bool(binding.flags, place.what);
  place.what = "the next state";
  if (!checks_.thunk(binding.next, place, components)) return;
  const auto types_fit = [&](const Thunk& thunk, std::size_t first, std::string_view what) {
    for (std::size_t i = 0; first + i < thunk.results.size(); ++i) {
      const Type type = binding.elements.nodes[binding.elements.results[i]].type;
      const Type found = thunk.nodes[thunk.results[first + i]].type;
      if (type == found) continue;
      checks_.fail(ErrorCode::KernelType, {},
                   fmt::format("component {} of the state is {}, {} is {}", i, type_name(type),
                               what, type_name(found)));
    }
  };
  types_fit(binding.next, 0, "the next one");
  if (!binding.push.results.empty()) {
    place.what = "the frame";
    if (!checks_.thunk(binding.push, place, 0)) return;
    if (binding.push.results.size() < 2 || binding.push.results.size() > components + 1) {
      checks_.fail(ErrorCode::KernelResult, {},
                   fmt::format("PUSH has {} results: there must be a condition, and behind it "
                               "from 1 to {} components",
                               binding.push.results.size(), components));
      return;
    }
    needs_bool(binding.push, "the condition of PUSH");
    types_fit(binding.push, 1, "that of the frame");
    place.what = "the condition of POP";
    if (!checks_.thunk(binding.pop, place, 1)) return;
    needs_bool(binding.pop, place.what);
  }
  for (const TableWrite& write : binding.writes) {
    const KernelArray& table = kernel_.arrays[write.operand];
    const std::string name = shortened(table.name);
    if (checks_.array(write.operand).kind != KernelSource::Kind::Input) {
      checks_.fail(ErrorCode::KernelSubscript, {},
                   fmt::format("`{}` is written in ITERATE and is no operand", name));
      return;
    }
    place.what = "what is written";
    if (!checks_.thunk(write.thunk, place, 3)) return;
    needs_bool(write.thunk, "the condition of WRITE");
    const auto type = [&](std::size_t k) { return write.thunk.nodes[write.thunk.results[k]].type; };
    if (type(1) != Type::Int) {
      checks_.fail(ErrorCode::KernelType, {},
                   fmt::format("the place in `{}` is {}, not INT", name, type_name(type(1))));
    }
    if (type(2) != table.type) {
      checks_.fail(ErrorCode::KernelType, {},
                   fmt::format("`{}` is {}, what is written into it is {}", name,
                               type_name(table.type), type_name(type(2))));
    }
  }
  if (binding.rounds < 0 || binding.depth < 0) {
    checks_.fail(ErrorCode::Internal, {}, "a negative number of rounds or frames");
  }
}

void KernelVerifier::needs_bool(const Thunk& thunk, std::string_view what) {
  const Type found = thunk.nodes[thunk.results[0]].type;
  if (found == Type::Bool) return;
  checks_.fail(ErrorCode::KernelType, {},
               fmt::format("{} is {}, not BOOL", what, type_name(found)));
}

void KernelVerifier::scatter(const Binding& binding) {
  const Space from = binding.space, into = *binding.into;
  if (from.segmented != into.segmented) {
    checks_.fail(ErrorCode::KernelSpace, {},
                 "SCATTER from a descriptor into a size, or from a size into a descriptor",
                 "use descriptors on both sides, or sizes on both");
  } else if (from.segmented &&
             !same_size(kernel_, kernel_.segdes[from.id].count, kernel_.segdes[into.id].count)) {
    checks_.fail(ErrorCode::KernelSpace, {},
                 "SCATTER between descriptors whose numbers of segments may differ");
  }
  if (binding.defaults.results.empty()) return;
  const std::size_t components = binding.elements.results.size();
  if (!checks_.thunk(binding.defaults, {true, into, false, "the defaults"}, components)) return;
  for (std::size_t i = 0; i < components; ++i) {
    const Type type = binding.elements.nodes[binding.elements.results[i]].type;
    const Type found = binding.defaults.nodes[binding.defaults.results[i]].type;
    if (type == found) continue;
    checks_.fail(ErrorCode::KernelType, {},
                 fmt::format("the default of component {} is {}, its elements are {}", i,
                             type_name(found), type_name(type)));
  }
}

void KernelVerifier::monoids(const Binding& binding) {
  const std::size_t components = binding.elements.results.size();
  if (binding.monoids.size() != components) {
    checks_.fail(ErrorCode::KernelResult, {},
                 fmt::format("{} component{} but {} operator{} to combine them with", components,
                             components == 1 ? "" : "s", binding.monoids.size(),
                             binding.monoids.size() == 1 ? "" : "s"));
    return;
  }
  for (std::size_t i = 0; i < components; ++i) {
    const Monoid monoid = binding.monoids[i];
    const Type found = binding.elements.nodes[binding.elements.results[i]].type;
    const OpInfo& row = info(monoid.op);
    if (row.family != Family::Reduce || !row.allows(monoid.type)) {
      checks_.fail(ErrorCode::Internal, {}, "a monoid that the operations table does not have");
    } else if (found != monoid.type) {
      checks_.fail(ErrorCode::KernelType, {},
                   fmt::format("component {} is {}, `{}` combines {}", i, type_name(found),
                               monoid_text(monoid), type_name(monoid.type)));
    }
  }
}

// ---- results ----

// Number of segments of the binding's space. A plain size is one segment: then there may be no id.
SizeId KernelVerifier::segment_count(const Binding& binding, bool& one) const {
  one = !binding.space.segmented;
  return one ? 0 : kernel_.segdes[binding.space.id].count;
}

void KernelVerifier::results(const Binding& binding) {
  const std::size_t components = binding.elements.results.size();
  const std::vector<ArrayId> tables = tables_of(binding);
  std::size_t arrays = 0, segdes = 0;
  switch (binding.kind) {
    case Kind::Size:
      new_size(binding, binding.size);
      checks_.set_size_known(binding.size);
      break;
    case Kind::Assert:
      break;
    case Kind::Segments:
      segdes = 1;
      break;
    case Kind::Filter:
      arrays = components;
      segdes = 1;
      break;
    case Kind::Split:
      segdes = static_cast<std::size_t>(binding.classes);
      arrays = binding.segdes.size() == segdes ? segdes * components : 0;
      break;
    default:
      arrays = components + tables.size();
  }
  if (binding.arrays.size() != arrays || binding.segdes.size() != segdes) {
    checks_.fail(ErrorCode::KernelResult, {}, "results that do not fit the components");
    return;
  }
  bool one = false;
  for (std::size_t i = 0; i < segdes; ++i) {
    if (binding.kind == Kind::Segments) {
      segdes_result(binding, binding.segdes[i], length_of_space(kernel_, binding.space));
      checks_.set_size_known(kernel_.segdes[binding.segdes[i]].total);
    } else {
      const SizeId count = segment_count(binding, one);
      segdes_result(binding, binding.segdes[i],
                    one ? kernel_.segdes[binding.segdes[i]].count : count);
      if (one && kernel_.sizes[kernel_.segdes[binding.segdes[i]].count].literal != 1) {
        checks_.fail(ErrorCode::KernelResult, {},
                     "the descriptor of a result over a plain size has 1 segment",
                     "declare it as `SEG 1 ...`");
      }
    }
  }
  for (std::size_t i = 0; i < arrays; ++i) {
    SizeId length = length_of_space(kernel_, binding.space);
    const ArrayId id = binding.arrays[i];
    one = binding.kind == Kind::Once;
    if (segdes > 0) length = kernel_.segdes[binding.segdes[i / components]].total;
    if (binding.kind == Kind::Scatter) length = length_of_space(kernel_, *binding.into);
    if (binding.kind == Kind::Reduce) length = segment_count(binding, one);
    if (binding.kind == Kind::Iterate && i >= components) {
      const KernelArray& operand = kernel_.arrays[tables[i - components]];
      array_result(binding, id, operand.type, operand.length);
      continue;
    }
    if (one && kernel_.sizes[kernel_.arrays[id].length].literal != 1) {
      checks_.fail(
          ErrorCode::KernelResult, {},
          fmt::format("`{}` has 1 element here, not `{}`", shortened(kernel_.arrays[id].name),
                      shortened(kernel_.sizes[kernel_.arrays[id].length].name)),
          fmt::format("declare it as `VEC {} 1`", type_name(kernel_.arrays[id].type)));
      one = false;
      length = kernel_.arrays[id].length;
    }
    const std::uint32_t node = binding.elements.results[i % components];
    if (node >= binding.elements.nodes.size()) return;  // reported with the thunk
    array_result(binding, id, binding.elements.nodes[node].type,
                 one ? kernel_.arrays[id].length : length);
  }
}

void KernelVerifier::array_result(const Binding& binding, ArrayId id, Type type, SizeId length) {
  const KernelArray& array = kernel_.arrays[id];
  KernelSource& source = checks_.array(id);
  if (source.kind != KernelSource::Kind::None) {
    checks_.fail(ErrorCode::KernelName, {},
                 fmt::format("`{}` is bound a second time", shortened(array.name)));
    return;
  }
  source = {KernelSource::Kind::Result, binding.kind, binding.space};
  if (type != array.type) {
    checks_.fail(ErrorCode::KernelType, {},
                 fmt::format("`{}` is declared {}, its elements are {}", shortened(array.name),
                             type_name(array.type), type_name(type)));
  }
  if (same_size(kernel_, length, array.length)) return;
  const auto text = [&](SizeId size) {
    const KernelSize& found = kernel_.sizes[size];
    if (found.literal) return fmt::format("`{}`", *found.literal);
    return found.name.empty() ? std::string("a size without a name")
                              : fmt::format("`{}`", shortened(found.name));
  };
  checks_.fail(ErrorCode::KernelSpace, {},
               fmt::format("`{}` is declared with {} elements, this binding makes {}",
                           shortened(array.name), text(array.length), text(length)));
}

void KernelVerifier::segdes_result(const Binding& binding, SegdesId id, SizeId count) {
  const KernelSegdes& segdes = kernel_.segdes[id];
  KernelSource& source = checks_.segdes(id);
  if (source.kind != KernelSource::Kind::None) {
    checks_.fail(ErrorCode::KernelName, {},
                 fmt::format("`{}` is bound a second time", shortened(segdes.name)));
    return;
  }
  source = {KernelSource::Kind::Result, binding.kind, binding.space};
  if (!same_size(kernel_, count, segdes.count)) {
    checks_.fail(ErrorCode::KernelSpace, {},
                 fmt::format("the number of segments of `{}` is declared otherwise than its "
                             "binding makes it",
                             shortened(segdes.name)));
  }
  new_size(binding, segdes.total);
}

// FILTER, SPLIT, SEGMENTS and SIZE introduce their sizes: nothing else may have.
void KernelVerifier::new_size(const Binding& binding, SizeId size) {
  if (!size_introduced_[size] && !kernel_.sizes[size].literal) {
    size_introduced_[size] = true;
    return;
  }
  const KernelSize& found = kernel_.sizes[size];
  checks_.fail(ErrorCode::KernelSpace, {},
               fmt::format("{} introduces a new size, but `{}` is known already",
                           combinator_name(binding.kind),
                           found.literal ? std::to_string(*found.literal) : shortened(found.name)),
               "give the result a size name of its own");
}

void KernelVerifier::outputs() {
  const auto bound = [&](KernelParameter parameter) {
    return parameter.segdes ? checks_.segdes(parameter.id).kind == KernelSource::Kind::Result
                            : checks_.array(parameter.id).kind == KernelSource::Kind::Result;
  };
  std::vector<bool> seen_arrays(kernel_.arrays.size()), seen_segdes(kernel_.segdes.size());
  for (KernelParameter parameter : kernel_.outputs) {
    const std::string& name =
        parameter.segdes ? kernel_.segdes[parameter.id].name : kernel_.arrays[parameter.id].name;
    auto seen = parameter.segdes ? seen_segdes[parameter.id] : seen_arrays[parameter.id];
    if (seen) {
      checks_.fail(ErrorCode::KernelName, kernel_.name_span,
                   fmt::format("the result `{}` is named twice", shortened(name)));
    }
    seen = true;
    if (!bound(parameter)) {
      checks_.fail(ErrorCode::KernelResult, kernel_.name_span,
                   fmt::format("the result `{}` is never bound", shortened(name)));
    }
  }
}

}  // namespace

bool verify_kernel(const Kernel& kernel, Diagnostics& diagnostics, bool parsed) {
  return KernelVerifier(kernel, diagnostics).run(parsed);
}

}  // namespace vcode
