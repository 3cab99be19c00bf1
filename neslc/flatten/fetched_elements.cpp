#include "neslc/flatten/fetched_elements.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace neslc {
namespace {

using ir::LengthId;
using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

/// Sequences as runs of a vector.
struct Runs {
  Value vector;
  LengthId length;  // of the vector
  ValueId starts;   // where each sequence begins
};

/// The fetched vector as a tree of the vectors that were fetched from.
Value bases_of(const ir::Builder& b, const Value& fetched) {
  Value result = fetched;
  if (fetched.is_scalar()) {
    result.var = b.variable(fetched.var).definition.operands[0];
  }
  for (Value& part : result.parts) part = bases_of(b, part);
  return result;
}

/// Where the sequences were fetched from, if they were fetched as runs.
std::optional<Runs> fetched_runs(const ir::Builder& b, const Value& sequences) {
  const Value& elements = sequences.elements();
  ValueId index = ir::kNoValue;
  LengthId length = ir::kOne;
  const bool alike = for_scalars(elements, [&](const Value& part) {
    const ir::Definition& made = b.variable(part.var).definition;
    if (!made.is(Op::BPermute)) return false;
    const bool first = index == ir::kNoValue;
    if (first) {
      index = made.operands[1];
      length = b.variable(made.operands[0]).length;
    }
    return index == made.operands[1] && length == b.variable(made.operands[0]).length &&
           b.variable(made.operands[2]).length == ir::kOne;
  });
  if (!alike || index == ir::kNoValue) return std::nullopt;
  const ir::Definition& counted = b.variable(index).definition;
  if (!counted.is(Op::Index) || counted.operands[2] != sequences.var) return std::nullopt;
  const ir::Definition& step = b.variable(counted.operands[1]).definition;
  const bool unit = b.known_int(counted.operands[1]) == 1 ||
                    (step.is(Op::Distribute) && b.known_int(step.operands[0]) == 1);
  if (!unit) return std::nullopt;
  return Runs{bases_of(b, elements), length, counted.operands[0]};
}

class Fetch {
 public:
  Fetch(Vectors& vectors, ValueId target) : v_(vectors), b_(vectors.builder()), target_(target) {}

  void add(const Vectors::Source& source) {
    const Value& sequences = source.vector;
    const Runs runs = fetched_runs(b_, sequences)
                          .value_or(Runs{sequences.elements(), b_.variable(sequences.var).total,
                                         v_.offsets(sequences.var)});
    ValueId starts = runs.starts;
    if (const ValueId begin = begin_of(runs); begin != ir::kNoValue) {
      starts = v_.add(starts, b_.op(Op::Distribute, VectorType::Int,
                                    {begin, b_.single(b_.variable(starts).length, starts)}));
    }
    starts_.push_back({Value::scalar(starts, nullptr), source.index, source.descriptor});
  }

  Value elements(ValueId inner_target) {
    const ValueId from = v_.place(starts_, target_).var;
    return v_.gather(all_, length_, v_.ranges(from, inner_target));
  }

 private:
  /// Where the vector begins in the joined one, which it becomes part of; none: at 0.
  ValueId begin_of(const Runs& runs) {
    const ValueList vars = vars_of(runs.vector);
    for (const auto& [known, begin] : known_) {
      if (known == vars) return begin;
    }
    ValueId begin = ir::kNoValue;
    if (known_.empty()) {
      all_ = runs.vector;
      length_ = runs.length;
    } else {
      begin = b_.number_of(length_, vars_of(all_)[0]);
      join(runs, begin);
    }
    known_.emplace_back(vars, begin);
    return begin;
  }

  /// Puts the vector behind what is joined, where it begins at `begin`.
  void join(const Runs& runs, ValueId begin) {
    const ValueId first = b_.single(length_, vars_of(all_)[0]);
    const ValueId more = b_.number_of(runs.length, vars_of(runs.vector)[0]);
    const ValueId second = b_.single(runs.length, vars_of(runs.vector)[0]);
    const ValueId target = v_.descriptor_of(v_.add(begin, more));
    const LengthId total = b_.variable(target).total;
    b_.remember_single(total, target);
    const ValueId in_front = v_.iota(first);
    const ValueId behind = b_.op(Op::Index, VectorType::Int, {begin, b_.int_constant(1), second});
    all_ = joined(all_, runs.vector, [&](ValueId a, ValueId b) {
      const VectorType type = b_.variable(a).type;
      const ValueId null = b_.null_constant(type);
      const ValueId room = b_.op(Op::Distribute, type, {null, target});
      const ValueId half = b_.op(Op::DPermute, type, {a, in_front, room, first, target});
      return b_.op(Op::DPermute, type, {b, behind, half, second, target});
    });
    length_ = total;
  }

  template <class Join>
  static Value joined(const Value& first, const Value& second, const Join& join) {
    Value result = first;
    if (first.is_scalar()) result.var = join(first.var, second.var);
    for (std::size_t i = 0; i < result.parts.size(); ++i) {
      result.parts[i] = joined(first.parts[i], second.parts[i], join);
    }
    return result;
  }

  Vectors& v_;
  ir::Builder& b_;
  ValueId target_;
  std::vector<Vectors::Source> starts_;               // of the sequences of each source
  std::vector<std::pair<ValueList, ValueId>> known_;  // what has been joined, and where
  Value all_;                                         // joined
  LengthId length_ = ir::kOne;
};

}  // namespace

bool fetches_elements(const ir::Builder& builder, const std::vector<Value>& sequences) {
  const auto can_be_fetched = [&](const Value& each) {
    return each.is_sequence() && has_scalars_only(each.elements()) &&
           builder.variable(each.var).length != ir::kOne;
  };
  const auto is_fetched = [&](const Value& each) {
    return fetched_runs(builder, each).has_value();
  };
  return std::all_of(sequences.begin(), sequences.end(), can_be_fetched) &&
         std::count_if(sequences.begin(), sequences.end(), is_fetched) > 1;
}

Value fetched_elements(Vectors& vectors, const std::vector<Vectors::Source>& sources,
                       ValueId target, ValueId inner_target) {
  Fetch fetch(vectors, target);
  for (const Vectors::Source& source : sources) fetch.add(source);
  return fetch.elements(inner_target);
}

}  // namespace neslc
