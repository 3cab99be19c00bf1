#include "reference/kernels.hpp"

#include <array>
#include <map>
#include <optional>
#include <utility>

namespace reference {
namespace {

using vcode::Binding;
using vcode::Kernel;
using vcode::Op;
using vcode::Space;
using vcode::Thunk;
using vcode::ThunkNode;
using NodeKind = vcode::ThunkNode::Kind;
using Kind = vcode::Binding::Kind;

// An element is a value of length 1.
Value element_of(const Value& vector, std::int64_t at) {
  const auto i = static_cast<std::size_t>(at);
  if (const auto* ints = std::get_if<Ints>(&vector)) return Ints{(*ints)[i]};
  if (const auto* floats = std::get_if<Floats>(&vector)) return Floats{(*floats)[i]};
  return Bools{std::get<Bools>(vector)[i]};
}

std::int64_t int_of(const Value& element) {
  return std::get<Ints>(element)[0];
}
bool flag_of(const Value& element) {
  return std::get<Bools>(element)[0] != 0;
}

Value empty_of(Type type) {
  if (type == Type::Int) return Ints{};
  if (type == Type::Float) return Floats{};
  return Bools{};
}

void append(Value& vector, const Value& element) {
  if (auto* ints = std::get_if<Ints>(&vector)) {
    ints->push_back(int_of(element));
  } else if (auto* floats = std::get_if<Floats>(&vector)) {
    floats->push_back(std::get<Floats>(element)[0]);
  } else {
    std::get<Bools>(vector).push_back(std::get<Bools>(element)[0]);
  }
}

void store(Value& vector, std::int64_t at, const Value& element) {
  const auto i = static_cast<std::size_t>(at);
  if (auto* ints = std::get_if<Ints>(&vector)) {
    (*ints)[i] = int_of(element);
  } else if (auto* floats = std::get_if<Floats>(&vector)) {
    (*floats)[i] = std::get<Floats>(element)[0];
  } else {
    std::get<Bools>(vector)[i] = std::get<Bools>(element)[0];
  }
}

Value zero_of(Type type) {
  if (type == Type::Int) return Ints{0};
  if (type == Type::Float) return Floats{0.0};
  return Bools{0};
}

class KernelEvaluator {
 public:
  KernelEvaluator(const Kernel& kernel, const Widths& widths, Random& random, Dropped dropped)
      : kernel_(kernel),
        widths_(widths),
        random_(random),
        dropped_(dropped),
        arrays_(kernel.arrays.size()),
        segdes_(kernel.segdes.size()) {
    for (std::size_t i = 0; i < kernel.sizes.size(); ++i) {
      if (kernel.sizes[i].literal) sizes_[static_cast<vcode::SizeId>(i)] = *kernel.sizes[i].literal;
    }
  }

  std::vector<Value> run(const std::vector<Value>& operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const vcode::KernelParameter input = kernel_.inputs[i];
      if (input.segdes) {
        segdes_[input.id] = std::get<Segdes>(operands[i]);
        bind_size(kernel_.segdes[input.id].count, segdes_[input.id].count());
        bind_size(kernel_.segdes[input.id].total, segdes_[input.id].total());
      } else {
        arrays_[input.id] = operands[i];
        bind_size(kernel_.arrays[input.id].length, length_of(operands[i]));
      }
    }
    for (std::size_t i = 0; i < kernel_.bindings.size(); ++i) {
      try {
        binding(kernel_.bindings[i]);
      } catch (const Failure& failure) {
        throw KernelFailure{{failure.code, position_}, i, number_};
      }
    }
    std::vector<Value> results;
    for (const vcode::KernelParameter output : kernel_.outputs) {
      results.push_back(output.segdes ? Value(segdes_[output.id]) : arrays_[output.id]);
    }
    return results;
  }

 private:
  void bind_size(vcode::SizeId id, std::int64_t value) {
    if (sizes_.try_emplace(id, value).first->second != value) {
      throw Failure{ErrorCode::LengthMismatch};
    }
  }

  std::int64_t length(Space space) const {
    return space.segmented ? segdes_[space.id].total() : sizes_.at(space.id);
  }
  Segdes segments(Space space) const {
    return space.segmented ? segdes_[space.id] : Segdes{{sizes_.at(space.id)}};
  }

  // ---- expressions, by need ----

  Value evaluate(const Thunk& thunk, std::uint32_t at, std::int64_t index) {
    const ThunkNode& node = thunk.nodes[at];
    const auto argument = [&](int k) { return evaluate(thunk, node.args[k], index); };
    switch (node.kind) {
      case NodeKind::Index:
        return Ints{index};
      case NodeKind::Size:
        return Ints{sizes_.at(node.id)};
      case NodeKind::Constant:
        if (node.type == Type::Int) return Ints{node.int_value};
        if (node.type == Type::Float) return Floats{widths_.round(node.float_value)};
        return Bools{static_cast<std::uint8_t>(node.int_value)};
      case NodeKind::Subscript: {
        const std::int64_t place = int_of(argument(0));
        check_index(place, length_of(arrays_[node.id]));
        return element_of(arrays_[node.id], place);
      }
      case NodeKind::If:
        return flag_of(argument(0)) ? argument(1) : argument(2);
      case NodeKind::Apply: {
        std::vector<Value> operands;
        for (int k = 0; k < vcode::argument_count(node); ++k) operands.push_back(argument(k));
        return elementwise(node.op, widths_, operands);
      }
      case NodeKind::State:
        return state_[node.id];
      case NodeKind::SegCount:
        return Ints{segdes_[node.id].count()};
      case NodeKind::SegLen: {
        const std::int64_t segment = int_of(argument(0));
        check_index(segment, segdes_[node.id].count());
        return Ints{segdes_[node.id].lengths[static_cast<std::size_t>(segment)]};
      }
      case NodeKind::SegStart: {
        const std::int64_t segment = int_of(argument(0));
        check_index(segment, segdes_[node.id].count());
        return Ints{segdes_[node.id].starts()[static_cast<std::size_t>(segment)]};
      }
      default: {
        const std::int64_t position = int_of(argument(0));
        check_index(position, segdes_[node.id].total());
        const std::int64_t segment = segment_at(segdes_[node.id], position);
        if (node.kind == NodeKind::SegNo) return Ints{segment};
        return Ints{position - segdes_[node.id].starts()[static_cast<std::size_t>(segment)]};
      }
    }
  }

  void check_index(std::int64_t index, std::int64_t count) {
    if (index < 0 || index >= count) fail(ErrorCode::IndexOutOfRange, index);
  }

  [[noreturn]] void fail(ErrorCode code, std::int64_t number) {
    number_ = number;
    throw Failure{code};
  }

  static std::int64_t segment_at(const Segdes& segdes, std::int64_t position) {
    std::int64_t segment = 0;
    for (std::int64_t end = segdes.lengths[0]; end <= position;) {
      end += segdes.lengths[static_cast<std::size_t>(++segment)];
    }
    return segment;
  }

  Value result(const Thunk& thunk, std::size_t component, std::int64_t index) {
    position_ = index;
    return evaluate(thunk, thunk.results[component], index);
  }

  std::vector<Value> components_at(const Binding& binding, std::int64_t index) {
    std::vector<Value> elements;
    for (std::size_t k = 0; k < binding.elements.results.size(); ++k) {
      elements.push_back(result(binding.elements, k, index));
    }
    return elements;
  }

  // All elements of the components over the space of the binding.
  std::vector<Value> all(const Binding& binding) {
    std::vector<Value> vectors;
    for (const std::uint32_t component : binding.elements.results) {
      vectors.push_back(empty_of(binding.elements.nodes[component].type));
    }
    const std::int64_t count = length(binding.space);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < vectors.size(); ++k) {
        append(vectors[k], result(binding.elements, k, i));
      }
    }
    return vectors;
  }

  // ---- bindings ----

  void binding(const Binding& binding) {
    const std::size_t components = binding.elements.results.size();
    switch (binding.kind) {
      case Kind::Size: {
        const std::int64_t value = int_of(result(binding.elements, 0, 0));
        if (value < 0) fail(ErrorCode::NegativeLength, value);
        sizes_[binding.size] = value;
        break;
      }
      case Kind::Assert:
        for (std::int64_t i = 0; i < length(binding.space); ++i) {
          if (!flag_of(result(binding.elements, 0, i))) {
            throw Failure{ErrorCode::AssertionFailed};
          }
        }
        break;
      case Kind::Once:
        for (std::size_t k = 0; k < components; ++k) {
          arrays_[binding.arrays[k]] = result(binding.elements, k, 0);
        }
        break;
      case Kind::Map:
        store_all(binding, all(binding));
        break;
      case Kind::Iterate:
        iterate(binding);
        break;
      case Kind::Random:
        draw(binding);
        break;
      case Kind::Scan:
      case Kind::Reduce:
        fold(binding);
        break;
      case Kind::Segments:
        lengths(binding);
        break;
      case Kind::Scatter:
        scatter(binding);
        break;
      default:
        filter(binding,
               binding.kind == Kind::Filter ? 1 : static_cast<std::size_t>(binding.classes));
    }
  }

  static Op scan_of(Op reduction) {
    return static_cast<Op>(static_cast<int>(reduction) - static_cast<int>(Op::AddReduce) +
                           static_cast<int>(Op::AddScan));
  }

  void store_all(const Binding& binding, std::vector<Value> vectors) {
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      arrays_[binding.arrays[k]] = std::move(vectors[k]);
    }
  }

  void iterate(const Binding& binding) {
    std::vector<Value> vectors = all(binding);
    // While states go on, tables stand where their operands were.
    const std::vector<vcode::ArrayId> tables = vcode::tables_of(binding);
    std::vector<Value> operands;
    for (const vcode::ArrayId table : tables) operands.push_back(arrays_[table]);
    for (std::int64_t i = 0; i < length(binding.space); ++i) {
      state_.clear();
      for (const Value& vector : vectors) state_.push_back(element_of(vector, i));
      std::vector<std::vector<Value>> stack;
      for (std::int64_t round = 0; round < binding.rounds; ++round) {
        if (!flag_of(result(binding.flags, 0, i))) break;
        std::vector<Value> next;
        for (std::size_t k = 0; k < vectors.size(); ++k) next.push_back(result(binding.next, k, i));
        if (!change_stack(binding, i, stack, next)) break;
        write_tables(binding, i);
        state_ = std::move(next);
      }
      for (std::size_t k = 0; k < vectors.size(); ++k) store(vectors[k], i, state_[k]);
    }
    for (std::size_t k = 0; k < tables.size(); ++k) {
      vectors.push_back(std::exchange(arrays_[tables[k]], std::move(operands[k])));
    }
    store_all(binding, std::move(vectors));
  }

  /// All that is written is computed before.
  void write_tables(const Binding& binding, std::int64_t i) {
    std::vector<std::array<Value, 3>> found;
    for (const vcode::TableWrite& write : binding.writes) {
      found.push_back(
          {result(write.thunk, 0, i), result(write.thunk, 1, i), result(write.thunk, 2, i)});
    }
    for (std::size_t k = 0; k < found.size(); ++k) {
      Value& table = arrays_[binding.writes[k].operand];
      const std::int64_t place = int_of(found[k][1]);
      const bool inside = place >= 0 && place < length_of(table);
      if (flag_of(found[k][0]) && inside) store(table, place, found[k][2]);
    }
  }

  /// False if the state has come to its end, because there is no room on its stack.
  bool change_stack(const Binding& binding, std::int64_t i, std::vector<std::vector<Value>>& stack,
                    std::vector<Value>& next) {
    if (binding.push.results.empty()) return true;
    std::vector<Value> frame;
    for (std::size_t k = 1; k < binding.push.results.size(); ++k) {
      frame.push_back(result(binding.push, k, i));
    }
    if (flag_of(result(binding.push, 0, i))) {
      if (static_cast<std::int64_t>(stack.size()) == binding.depth) return false;
      stack.push_back(std::move(frame));
    } else if (flag_of(result(binding.pop, 0, i))) {
      for (std::size_t k = 0; k < frame.size(); ++k) {
        next[k] = stack.empty() ? zero_of(binding.push.nodes[binding.push.results[k + 1]].type)
                                : stack.back()[k];
      }
      if (!stack.empty()) stack.pop_back();
    }
    return true;
  }

  void draw(const Binding& binding) {
    const Value bounds = all(binding)[0];
    try {
      arrays_[binding.arrays[0]] =
          reference::evaluate(Op::Rand, Type::Int, widths_, random_, {bounds})[0];
    } catch (const Failure& failure) {
      position_ = failure.position;
      fail(failure.code, std::get<Ints>(bounds)[static_cast<std::size_t>(position_)]);
    }
  }

  void fold(const Binding& binding) {
    std::vector<Value> vectors = all(binding);
    const Segdes within = segments(binding.space);
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      const Op op = binding.monoids[k].op;
      vectors[k] = binding.kind == Kind::Reduce ? reduce(op, widths_, vectors[k], within)
                                                : scan(scan_of(op), widths_, vectors[k], within);
    }
    store_all(binding, std::move(vectors));
  }

  void lengths(const Binding& binding) {
    Segdes made{std::get<Ints>(all(binding)[0])};
    for (position_ = 0; position_ < made.count(); ++position_) {
      const std::int64_t each = made.lengths[static_cast<std::size_t>(position_)];
      if (each < 0) fail(ErrorCode::NegativeLength, each);
    }
    segdes_[binding.segdes[0]] = made;
    sizes_[kernel_.segdes[binding.segdes[0]].total] = made.total();
  }

  void filter(const Binding& binding, std::size_t classes) {
    const std::size_t components = binding.elements.results.size();
    const Segdes from = segments(binding.space);
    std::vector<Value> kept;  // of the first class, then of the next
    for (std::size_t k = 0; k < classes * components; ++k) {
      kept.push_back(
          empty_of(binding.elements.nodes[binding.elements.results[k % components]].type));
    }
    std::vector<Segdes> made(classes);
    std::int64_t at = 0;
    for (const std::int64_t segment : from.lengths) {
      for (Segdes& each : made) each.lengths.push_back(0);
      for (const std::int64_t end = at + segment; at < end; ++at) {
        const std::int64_t to = class_at(binding, at);
        const bool taken = to >= 0 && to < static_cast<std::int64_t>(classes);
        if (!taken && dropped_ == Dropped::LeftOut) continue;
        const std::vector<Value> elements = components_at(binding, at);
        if (!taken) continue;
        const auto c = static_cast<std::size_t>(to);
        ++made[c].lengths.back();
        for (std::size_t k = 0; k < components; ++k) append(kept[c * components + k], elements[k]);
      }
    }
    store_all(binding, std::move(kept));
    for (std::size_t c = 0; c < classes; ++c) segdes_[binding.segdes[c]] = made[c];
  }

  // Of FILTER 0 or -1 (dropped), of SPLIT any number.
  std::int64_t class_at(const Binding& binding, std::int64_t at) {
    const Value choice = result(binding.flags, 0, at);
    if (binding.kind == Kind::Split) return int_of(choice);
    return flag_of(choice) ? 0 : -1;
  }

  void scatter(const Binding& binding) {
    const std::size_t components = binding.elements.results.size();
    const Segdes from = segments(binding.space), into = segments(*binding.into);
    std::vector<Value> targets;
    for (std::size_t k = 0; k < components; ++k) {
      const Type type = binding.elements.nodes[binding.elements.results[k]].type;
      Value target = empty_of(type);
      for (std::int64_t j = 0; j < into.total(); ++j) {
        append(target,
               binding.defaults.results.empty() ? zero_of(type) : result(binding.defaults, k, j));
      }
      targets.push_back(std::move(target));
    }
    std::int64_t at = 0;
    for (std::size_t segment = 0; segment < from.lengths.size(); ++segment) {
      for (const std::int64_t end = at + from.lengths[segment]; at < end; ++at) {
        const bool taken = binding.flags.results.empty() || flag_of(result(binding.flags, 0, at));
        if (!taken && dropped_ == Dropped::LeftOut) continue;
        const std::vector<Value> elements = components_at(binding, at);
        const std::int64_t place = int_of(result(binding.index, 0, at));
        if (!taken) continue;
        check_index(place, into.lengths[segment]);
        for (std::size_t k = 0; k < components; ++k) {
          store(targets[k], into.starts()[segment] + place, elements[k]);
        }
      }
    }
    for (std::size_t k = 0; k < components; ++k) arrays_[binding.arrays[k]] = targets[k];
  }

  const Kernel& kernel_;
  const Widths& widths_;
  Random& random_;
  Dropped dropped_;
  std::map<vcode::SizeId, std::int64_t> sizes_;
  std::vector<Value> state_;  // of the position at which an ITERATE is
  std::vector<Value> arrays_;
  std::vector<Segdes> segdes_;
  std::int64_t position_ = 0;           // where the binding is
  std::optional<std::int64_t> number_;  // at fault
};

}  // namespace

std::vector<Value> run_kernel(const Kernel& kernel, const Widths& widths,
                              const std::vector<Value>& operands, Random& random, Dropped dropped) {
  return KernelEvaluator(kernel, widths, random, dropped).run(operands);
}

}  // namespace reference
