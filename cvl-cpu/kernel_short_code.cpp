#include "cvl-cpu/kernel_short_code.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "cvl-cpu/native_simplify.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;

/// For so many ways in which operands lie there is code.
constexpr std::size_t kMostMade = 4;

/// Is it kept as it is, because writing its elements out would take longer than the pass?
bool is_long_narrow(const Vector& vector) {
  return vector.form == Form::Narrow && vector.length > tuning.short_pass;
}

std::uintptr_t address(const void* of) {
  return reinterpret_cast<std::uintptr_t>(of);
}

}  // namespace

bool ShortCode::can_be_made(const CpuBackend& cpu) {
  return cpu.makes_native_code() && cpu.isa() != Isa::Baseline;
}

bool ShortCode::can_compute(const CpuBackend& cpu, const PlanNode& node) {
  switch (node.kind) {
    case Kind::Apply:
      return has_native_form(cpu.isa(), cpu.widths(), node.op, node.written);
    case Kind::Constant:
    case Kind::Size:
    case Kind::Position:
    case Kind::Load:
    case Kind::Gather:
    case Kind::SegmentNumber:
    case Kind::SegmentOffset:
      return true;
    case Kind::SegmentLength:
    case Kind::SegmentStart:
      return has_native_form(cpu.isa(), cpu.widths(), Op::Multiply, Type::Int);
    default:
      return false;
  }
}

bool ShortCode::can_store(const CpuBackend& cpu, Type type) {
  // Of BOOLs with AVX2 some more are written, for which there is room behind every vector.
  return type == Type::Bool || has_native_result(cpu.isa(), type);
}

// --- Code ---

/// Makes the code, and notes where it finds what it needs.
class ShortCode::Maker {
 public:
  Maker(const ShortCode& own, const std::vector<Vector>& known)
      : state_(own.state_),
        cpu_(state_.cpu),
        plan_(own.pass_),
        wanted_(own.wanted_),
        known_(known) {
    value_of_.assign(plan_.nodes.size(), kNone);
  }

  /// Null when no code can be made.
  std::unique_ptr<Made> make() {
    add_results();
    pieces_.words = words_;
    simplify(pieces_, cpu_.isa(), cpu_.widths());
    made_->row.assign(words_, 0);
    for (const auto& [place, cell] : cell_places_) made_->row[place] = address(&made_->cells[cell]);
    made_->code = NativeCode::make(pieces_, cpu_.isa(), cpu_.widths());
    return made_->code != nullptr ? std::move(made_) : nullptr;
  }

 private:
  using Value = NativeLoop::Value;

  void add_results() {
    for (const ShortResults::Column& column : wanted_.columns) {
      std::uint32_t number = value(column.node);
      if (column.equals) number = compare(Op::Equal, number, literal(*column.equals));
      Column& own = made_->columns.emplace_back();
      own.place = words_++;
      own.chooses = !column.equals && find_chosen(column.node, own.chosen);
      pieces_.body.results.push_back({number, own.place});
    }
    for (const ShortResults::Flag& flag : wanted_.flags) {
      const std::uint32_t number = value(flag.node);
      made_->flags.push_back(add_flag(flag.all ? negated(number) : number));
    }
    for (const NodeId asserted : wanted_.asserted) fail_if(negated(value(asserted)));
    for (const NodeId length : wanted_.lengths) {
      fail_if(is_outside(value(length), literal(std::numeric_limits<std::int32_t>::max())));
    }
    if (failed_ != kNone) made_->failed = add_flag(failed_);
  }
  std::uint32_t add_flag(std::uint32_t number) {
    const std::uint32_t cell = new_cell(0);
    pieces_.disjunctions.push_back({number, place_of_cell(cell)});
    return cell;
  }

  std::uint32_t add(const Value& value) {
    pieces_.body.values.push_back(value);
    return static_cast<std::uint32_t>(pieces_.body.values.size() - 1);
  }
  std::uint32_t new_cell(std::int64_t number) {
    made_->cells.push_back(number);
    return static_cast<std::uint32_t>(made_->cells.size() - 1);
  }
  std::uint32_t place_of_cell(std::uint32_t cell) {
    cell_places_.emplace_back(words_, cell);
    return words_++;
  }

  bool is_once(std::uint32_t number) const {
    return number == kNone || pieces_.body.values[number].kind == Value::Kind::Uniform ||
           pieces_.body.values[number].once;
  }
  std::uint32_t apply(Op op, Type written, Type type, std::uint32_t first,
                      std::uint32_t second = kNone) {
    Value applied;
    applied.op = op;
    applied.written = written;
    applied.type = type;
    applied.args[0] = first;
    applied.args[1] = second;
    applied.once = is_once(first) && is_once(second);
    return add(applied);
  }
  std::uint32_t negated(std::uint32_t flag) { return apply(Op::Not, Type::Bool, Type::Bool, flag); }
  std::uint32_t compare(Op op, std::uint32_t first, std::uint32_t second) {
    return apply(op, Type::Int, Type::Bool, first, second);
  }
  /// Is an INT below 0, or not below a number?
  std::uint32_t is_outside(std::uint32_t number, std::uint32_t limit) {
    return apply(Op::Or, Type::Bool, Type::Bool, compare(Op::Less, number, literal(0)),
                 compare(Op::GreaterEqual, number, limit));
  }
  void fail_if(std::uint32_t flag) {
    failed_ = failed_ == kNone ? flag : apply(Op::Or, Type::Bool, Type::Bool, failed_, flag);
  }

  std::uint32_t uniform(Type type, std::uint32_t cell) {
    Value value;
    value.kind = Value::Kind::Uniform;
    value.type = type;
    value.place = place_of_cell(cell);
    return add(value);
  }
  std::uint32_t literal(std::int64_t number) {
    const std::uint32_t result = uniform(Type::Int, new_cell(number));
    pieces_.body.values[result].number = number;
    return result;
  }
  std::uint32_t number(Number::Source source, std::uint32_t id) {
    const std::uint32_t cell = new_cell(0);
    made_->numbers.push_back({source, id, cell});
    const std::uint32_t result = uniform(Type::Int, cell);
    pieces_.body.values[result].is_size = true;
    return result;
  }

  /// The vectors whose elements a node chooses from. False if that is not all that it does.
  bool find_chosen(NodeId number, std::vector<ArrayId>& chosen) const {
    constexpr std::int64_t kMostInByte = 255;
    std::vector<bool> seen(plan_.nodes.size());
    std::vector<NodeId> left = {number};
    while (!left.empty()) {
      const NodeId next = left.back();
      left.pop_back();
      if (seen[next]) continue;
      seen[next] = true;
      const PlanNode& node = plan_.nodes[next];
      if (node.type != Type::Int) return false;
      if (node.kind == Kind::Load || node.kind == Kind::Gather) {
        chosen.push_back(node.id);
      } else if (node.applies(Op::Select)) {
        left.insert(left.end(), {node.args[1], node.args[2]});
      } else if (node.kind != Kind::Constant || node.int_value < 0 ||
                 node.int_value > kMostInByte) {
        return false;
      }
    }
    return true;
  }

  std::uint32_t value(NodeId node) {
    if (value_of_[node] == kNone) {
      const std::uint32_t number = new_value(node);
      value_of_[node] = number;
    }
    return value_of_[node];
  }

  std::uint32_t new_value(NodeId number) {
    const PlanNode& node = plan_.nodes[number];
    using Source = Read::Source;
    if (known_[number].length > 0) return read(node.type, Source::Known, number);
    switch (node.kind) {
      case Kind::Constant:
        return constant(node);
      case Kind::Size:
        return this->number(Number::Source::Size, node.id);
      case Kind::Position: {
        Value position;
        position.kind = Value::Kind::Progression;
        position.stride = 1;
        position.place = place_of_cell(new_cell(0));
        return add(position);
      }
      case Kind::Load:
        return read(node.type, Source::Array, node.id);
      case Kind::SegmentNumber:
        return read(node.type, Source::Numbers, node.id);
      case Kind::SegmentOffset:
        return read(node.type, Source::Offsets, node.id);
      case Kind::SegmentLength:
      case Kind::SegmentStart:
        return property(node);
      case Kind::Gather:
        return gathered(node);
      default:
        return applied(node);
    }
  }

  std::uint32_t read(Type type, Read::Source source, std::uint32_t id) {
    Value read;
    read.kind = Value::Kind::Read;
    read.type = type;
    read.place = words_++;
    made_->reads.push_back({source, id, read.place});
    return add(read);
  }

  std::uint32_t constant(const PlanNode& node) {
    if (node.type == Type::Int) return literal(node.int_value);
    std::int64_t bits = node.int_value;
    if (node.type == Type::Float) {
      std::memcpy(&bits, make_float(cpu_.widths(), node.float_value).payload, sizeof bits);
    }
    const std::uint32_t result = uniform(node.type, new_cell(bits));
    if (node.type == Type::Bool) pieces_.body.values[result].number = bits;
    return result;
  }

  /// Element args[0] of a vector with so many elements.
  std::uint32_t gather(const PlanNode& node, Read::Source source, std::uint32_t length) {
    Value read;
    read.kind = Value::Kind::Gather;
    read.type = node.type;
    read.bytes = source == Read::Source::NarrowArray || node.type == Type::Bool;
    read.args[0] = value(node.args[0]);
    read.args[1] = length;
    read.once = is_once(read.args[0]);
    read.place = words_++;
    made_->reads.push_back({source, node.id, read.place});
    return add(read);
  }
  /// An index that must be inside, if the node says so.
  void check_index(const PlanNode& node, std::uint32_t limit) {
    if (!node.traps) return;
    std::uint32_t outside = is_outside(value(node.args[0]), limit);
    if (node.guard != kNone) {
      outside = apply(Op::And, Type::Bool, Type::Bool, outside, value(node.guard));
    }
    fail_if(outside);
  }

  /// An element at a literal index is one for all, and looked for in front.
  std::uint32_t gathered(const PlanNode& node) {
    const PlanNode& index = plan_.nodes[node.args[0]];
    const bool narrow = is_long_narrow(state_.arrays[node.id]);
    if (index.kind == Kind::Constant && !narrow) {
      Value read;
      read.kind = Value::Kind::Uniform;
      read.type = node.type;
      read.place = words_++;
      made_->reads.push_back({Read::Source::Array, node.id, read.place, index.int_value});
      return add(read);
    }
    const std::uint32_t length = number(Number::Source::ArrayLength, node.id);
    check_index(node, length);
    return gather(node, narrow ? Read::Source::NarrowArray : Read::Source::Array, length);
  }

  /// The length or the start of a segment.
  std::uint32_t property(const PlanNode& node) {
    const std::uint32_t count = number(Number::Source::SegmentCount, node.id);
    check_index(node, count);
    const bool starts = node.kind == Kind::SegmentStart;
    if (!state_.segdes[node.id].uniform) {
      return gather(node, starts ? Read::Source::Starts : Read::Source::Lengths, count);
    }
    const std::uint32_t length = number(Number::Source::SegmentLength, node.id);
    if (!starts) return length;
    return apply(Op::Multiply, Type::Int, Type::Int, value(node.args[0]), length);
  }

  std::uint32_t applied(const PlanNode& node) {
    Value applied;
    applied.op = node.op;
    applied.written = node.written;
    applied.type = node.type;
    applied.once = true;
    for (std::size_t k = 0; k < vcode::info(node.op).operands.size(); ++k) {
      applied.args[k] = value(node.args[k]);
      applied.once = applied.once && is_once(applied.args[k]);
    }
    if (node.guard != kNone && applied.divides_ints()) {
      applied.guard = value(node.guard);
      applied.once = applied.once && is_once(applied.guard);
    }
    return add(applied);
  }

  KernelState& state_;
  CpuBackend& cpu_;
  const PlanPass& plan_;
  const ShortResults& wanted_;
  const std::vector<Vector>& known_;
  std::unique_ptr<Made> made_ = std::make_unique<Made>();
  NativePieces pieces_;
  std::vector<std::uint32_t> value_of_;  // per node
  std::uint32_t words_ = 1;
  std::uint32_t failed_ = kNone;  // the value that says whether a check fails
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cell_places_;
};

// --- Runs ---

bool ShortCode::run(std::int64_t n, const std::vector<Vector>& known) {
  if (find_code(n, known) != Found::Here) return false;
  Made& made = *made_.front();
  make_columns(made, n);
  for (const std::uint32_t cell : made.flags) made.cells[cell] = 0;
  if (made.failed) made.cells[*made.failed] = 0;
  made.row[0] = static_cast<std::uintptr_t>(n);
  return !made.code->run_pieces(made.row.data(), 1) &&
         !(made.failed && made.cells[*made.failed] != 0);
}

/// The code for the operands of this run comes first then.
ShortCode::Found ShortCode::find_code(std::int64_t n, const std::vector<Vector>& known) {
  for (auto made = made_.begin(); made != made_.end(); ++made) {
    const Found found = find_operands(**made, n, known);
    if (found == Found::ForOtherCode) continue;
    std::rotate(made_.begin(), made, made + 1);
    return found;
  }
  if (hopeless_ || made_.size() == kMostMade) return Found::Nowhere;
  std::unique_ptr<Made> made = Maker(*this, known).make();
  hopeless_ = made == nullptr;
  if (hopeless_) return Found::Nowhere;
  made_.insert(made_.begin(), std::move(made));
  return find_operands(*made_.front(), n, known);
}

ShortCode::Found ShortCode::find_operands(Made& made, std::int64_t n,
                                          const std::vector<Vector>& known) {
  for (Read& read : made.reads) {
    const Found found = find(made, read, n, known);
    if (found != Found::Here) return found;
  }
  const bool fits = std::all_of(made.numbers.begin(), made.numbers.end(),
                                [&](const Number& number) { return put(made, number); });
  return fits ? Found::Here : Found::ForOtherCode;
}

ShortCode::Found ShortCode::find(Made& made, Read& read, std::int64_t n,
                                 const std::vector<Vector>& known) {
  using Source = Read::Source;
  switch (read.source) {
    case Source::Array:
    case Source::NarrowArray:
      return find_array(made, read);
    case Source::Known:
      made.row[read.place] = address(elements<void>(known[read.id]));
      return Found::Here;
    case Source::Numbers:
    case Source::Offsets:
      make_ints(made, read, n);
      return Found::Here;
    case Source::Lengths: {
      const Segdes& segdes = state_.segdes[read.id];
      if (segdes.uniform) return Found::ForOtherCode;
      made.row[read.place] = address(elements<void>(segdes.tables->lengths));
      return Found::Here;
    }
    case Source::Starts:
      return find_starts(made, read);
  }
  return Found::Nowhere;
}

ShortCode::Found ShortCode::find_array(Made& made, const Read& read) {
  Vector& vector = state_.arrays[read.id];
  const bool narrow = read.source == Read::Source::NarrowArray;
  if (narrow ? vector.form != Form::Narrow : !vector.is_plain()) {
    if (narrow || is_long_narrow(vector)) return Found::ForOtherCode;
    if (vector.length > tuning.short_pass) return Found::Nowhere;
    vector = state_.cpu.materialized(vector);
  }
  std::int64_t first = 0;
  if (read.index) {
    first = *read.index;
    if (first < 0 || first >= vector.length) return Found::Nowhere;
  }
  made.row[read.place] =
      address(elements<std::byte>(vector) + first * state_.cpu.stored_bytes(vector));
  return Found::Here;
}

/// Of descriptors with many segments they are kept where they have been asked for often enough.
ShortCode::Found ShortCode::find_starts(Made& made, Read& read) {
  const Segdes& segdes = state_.segdes[read.id];
  if (segdes.uniform) return Found::ForOtherCode;
  const Vector& known = segdes.tables->starts;
  if (known.length > 0 && known.is_plain()) {
    made.row[read.place] = address(elements<void>(known));
    return Found::Here;
  }
  if (segdes.count > tuning.short_pass) return Found::Nowhere;
  make_ints(made, read, segdes.count);
  return Found::Here;
}

/// n INTs that tell of the segments of a descriptor.
void ShortCode::make_ints(Made& made, Read& read, std::int64_t n) {
  const std::size_t width = state_.cpu.element_bytes(Type::Int);
  read.room.resize(static_cast<std::size_t>(n) * width + Heap::kPadding);
  width == 4 ? put_ints<std::int32_t>(read, n) : put_ints<std::int64_t>(read, n);
  made.row[read.place] = address(read.room.data());
}

template <class I>
void ShortCode::put_ints(Read& read, std::int64_t n) const {
  const Segdes& segdes = state_.segdes[read.id];
  const I* const lengths = segdes.uniform ? nullptr : elements<I>(segdes.tables->lengths);
  auto* const out = reinterpret_cast<I*>(read.room.data());
  if (read.source == Read::Source::Starts) {
    std::exclusive_scan(lengths, lengths + n, out, I{0});
    return;
  }
  std::int64_t end = 0;
  for (std::int64_t s = 0, i = 0; i < n; ++s) {
    const std::int64_t start = end;
    end += lengths != nullptr ? lengths[s] : segdes.uniform_length;
    for (; i < end; ++i) {
      out[i] = static_cast<I>(read.source == Read::Source::Numbers ? s : i - start);
    }
  }
}

/// False if that is for other code.
bool ShortCode::put(Made& made, const Number& number) const {
  switch (number.source) {
    case Number::Source::ArrayLength:
      made.cells[number.cell] = state_.arrays[number.id].length;
      return true;
    case Number::Source::Size:
      made.cells[number.cell] = state_.size(number.id);
      return true;
    case Number::Source::SegmentCount:
      made.cells[number.cell] = state_.segdes[number.id].count;
      return true;
    default:
      made.cells[number.cell] = state_.segdes[number.id].uniform_length;
      return state_.segdes[number.id].uniform;
  }
}

void ShortCode::release() {
  if (made_.empty()) return;
  for (Column& column : made_.front()->columns) column.elements.buffer.reset();
}

void ShortCode::make_columns(Made& made, std::int64_t n) {
  for (std::size_t k = 0; k < made.columns.size(); ++k) {
    Column& column = made.columns[k];
    const ShortResults::Column& wanted = wanted_.columns[k];
    const Type type = wanted.equals ? Type::Bool : pass_.nodes[wanted.node].type;
    column.elements = state_.cpu.new_vector(type, n);
    column.elements.fits_bytes =
        column.chooses && std::all_of(column.chosen.begin(), column.chosen.end(),
                                      [&](ArrayId of) { return state_.arrays[of].fits_bytes; });
    made.row[column.place] = address(elements<void>(column.elements));
  }
}

}  // namespace cvl::cpu
