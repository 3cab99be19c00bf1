// Printing, files, processes (reference, 6.14).
#include "neslc/flatten/primitives.hpp"

namespace neslc {
namespace {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;
using CallSite = Flattener::CallSite;

constexpr std::int64_t kReadMode = 1;
constexpr std::int64_t kWriteMode = 2;
constexpr std::int64_t kAppendMode = 3;
constexpr std::int64_t kInsertMode = 4;
constexpr std::int64_t kNewMode = 5;

Value truth(Flattener& f) {
  return Value::scalar(f.builder().bool_constant(true), f.serial());
}

/// A string from a vector of characters that an operation has delivered.
Value text_value(Flattener& f, ValueId codes) {
  const ValueId descriptor = f.builder().single(f.builder().variable(codes).length, codes);
  return Value::sequence(descriptor, Value::scalar(codes, f.serial()), f.serial());
}

/// One result of the machine as a scalar.
Value scalar_value(Flattener& f, ValueId var) {
  f.builder().set_length(var, ir::kOne);
  return Value::scalar(var, f.serial());
}

/// (flag, message) from the error text and the flag that end every operation.
Value status(Flattener& f, ValueId message, ValueId flag) {
  return Value::tuple({scalar_value(f, flag), text_value(f, message)});
}

/// To standard error; WRITE is left to failing programs.
Value write_out(Flattener& f, ValueId codes) {
  constexpr std::int64_t kStandardError = 2;
  f.builder().operation(Op::FWrite, VectorType::Char,
                        {codes, f.builder().int_constant(kStandardError)});
  return truth(f);
}

/// Writes the characters of all instances.
Value print_string(Flattener& f, const CallSite& site, const Value& argument) {
  const Value here = argument.context->serial() && site.context->serial()
                         ? argument
                         : f.bring(argument, site.context);
  return write_out(f, here.elements().var);
}

Value print_char(Flattener& f, const CallSite& site, const Value& argument) {
  return write_out(f, f.bring_scalar(argument, site.context));
}

template <std::int64_t kMode>
Value open(Flattener& f, const CallSite&, const Value& argument) {
  const ValueList results = f.builder().operation(
      Op::FOpen, VectorType::Int, {argument.elements().var, f.builder().int_constant(kMode)});
  return Value::tuple({scalar_value(f, results[0]), status(f, results[1], results[2])});
}

Value close(Flattener& f, const CallSite&, const Value& argument) {
  const ValueList results = f.builder().operation(Op::FClose, VectorType::Int, {argument.var});
  return status(f, results[0], results[1]);
}

/// (characters, stream)
Value write_text(Flattener& f, const CallSite& site, const Value& argument) {
  const Value& text = argument.parts[0];
  const Value& stream = argument.parts[1];
  const Value here = f.bring(text, site.context);
  ValueId number = stream.var;
  if (!stream.context->serial()) {
    number = f.builder().op(Op::MaxReduce, VectorType::Int,
                            {f.bring_scalar(stream, site.context), f.instances(site.context)});
    f.builder().set_length(number, ir::kOne);
  }
  const ValueList results = f.builder().operation(
      Op::FWrite, VectorType::Char, {here.is_sequence() ? here.elements().var : here.var, number});
  return status(f, results[0], results[1]);
}

/// (file of a picture, text). What all instances draw is written at once, so that no other text
/// comes between; where they draw in different pictures, the library sorts it out.
Value draw(Flattener& f, const CallSite& site, const Value& argument) {
  const Value& file = argument.parts[0];
  if (!file.context->serial()) {
    const Value drawings =
        Value::sequence(f.instances(site.context), f.bring(argument, site.context), f.serial());
    return f.call_library("picture.insert_each", {}, drawings, f.serial());
  }
  const Value text = text_value(f, f.bring(argument.parts[1], site.context).elements().var);
  return f.call_library("picture.insert", {}, Value::tuple({file, text}), f.serial());
}

/// (delimiters, maximum, stream): ((characters, code), flag, message)
Value read_string(Flattener& f, const CallSite&, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  const ValueList results = f.builder().operation(
      Op::FReadChar, VectorType::Int, {parts[0].elements().var, parts[1].var, parts[2].var});
  return Value::tuple({Value::tuple({text_value(f, results[0]), scalar_value(f, results[1])}),
                       status(f, results[2], results[3])});
}

/// (form, maximum, stream): ((numbers, code), flag, message)
template <VectorType kType>
Value read_numbers(Flattener& f, const CallSite&, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  const ValueList results = f.builder().operation(
      Op::FReadNumbers, kType, {parts[0].elements().var, parts[1].var, parts[2].var});
  return Value::tuple({Value::tuple({text_value(f, results[0]), scalar_value(f, results[1])}),
                       status(f, results[2], results[3])});
}

/// (numbers, form, stream): (flag, message)
template <VectorType kType>
Value write_numbers(Flattener& f, const CallSite&, const Value& argument) {
  const std::vector<Value> parts = components(argument, 3);
  const ValueList results = f.builder().operation(
      Op::FWriteNumbers, kType, {parts[0].elements().var, parts[1].elements().var, parts[2].var});
  return status(f, results[0], results[1]);
}

/// A whole vector `( 1 2 3 )` from a stream: (sequence, flag, message).
template <VectorType kType>
Value read_vector(Flattener& f, const CallSite&, const Value& argument) {
  const ValueList results = f.builder().operation(Op::FRead, kType, {argument.var});
  return Value::tuple({text_value(f, results[0]), status(f, results[1], results[2])});
}

/// (flag, message) of several operations: do all flags hold, and the message of the last one.
class JointStatus {
 public:
  explicit JointStatus(Flattener& f) : f_(f) {}

  void add(ValueId message, ValueId flag) {
    message_ = message;
    f_.builder().set_length(flag, ir::kOne);
    flag_ =
        flag_ == ir::kNoValue ? flag : f_.builder().op(Op::And, VectorType::Bool, {flag_, flag});
  }
  /// What to say where all operations went well but `good` is not set.
  void also(ValueId good, const std::string& complaint) {
    ir::Builder& b = f_.builder();
    const ValueId operations = flag_;
    flag_ = b.op(Op::And, VectorType::Bool, {operations, good});
    message_ = b.conditional(
        b.op(Op::Equal, VectorType::Bool, {operations, flag_}), [&] { return ValueList{message_}; },
        [&] { return ValueList{b.text_constant(complaint)}; })[0];
  }
  ValueId flag() const { return flag_; }
  Value value() const {
    return flag_ == ir::kNoValue ? Value::tuple({truth(f_), f_.string_constant("")})
                                 : status(f_, message_, flag_);
  }

 private:
  Flattener& f_;
  ValueId message_ = ir::kNoValue;
  ValueId flag_ = ir::kNoValue;
};

/// The vectors of a value one after another, each in the notation of the machine.
Value write_object(Flattener& f, const CallSite&, const Value& argument) {
  ir::Builder& b = f.builder();
  const Value& stream = argument.parts[1];
  JointStatus joint(f);
  for (const ValueId var : vars_of(argument.parts[0])) {
    const ValueList results = b.operation(Op::FWrite, b.variable(var).type, {var, stream.var});
    joint.add(results[0], results[1]);
  }
  return joint.value();
}

/// Have vectors that come from outside the lengths of a value of their type? `count`: how many such
/// values they are. A BOOL scalar.
ValueId has_lengths_of(ir::Builder& b, const Value& value, ValueId count) {
  switch (value.kind) {
    case Value::Kind::Scalar: {
      const ValueId length = b.op(Op::Length, b.variable(value.var).type, {value.var});
      return b.op(Op::Equal, VectorType::Int, {length, count});
    }
    case Value::Kind::Sequence: {
      const ValueId lengths = b.op(Op::Lengths, VectorType::Int, {value.var});
      const ValueId segments = b.op(Op::Length, VectorType::Int, {lengths});
      const ValueId all = b.op(Op::MakeSegdes, VectorType::Int, {segments});
      const ValueId total = b.op(Op::AddReduce, VectorType::Int, {lengths, all});
      return b.op(Op::And, VectorType::Bool,
                  {b.op(Op::Equal, VectorType::Int, {segments, count}),
                   has_lengths_of(b, value.elements(), total)});
    }
    default:  // Tuple; no vector is a stream
      break;
  }
  ValueId result = b.bool_constant(true);
  for (const Value& part : value.parts) {
    result = b.op(Op::And, VectorType::Bool, {result, has_lengths_of(b, part, count)});
  }
  return result;
}

/// (prototype, stream). What cannot be read as such a value leaves the prototype.
Value read_object(Flattener& f, const CallSite& site, const Value& argument) {
  ir::Builder& b = f.builder();
  const Value& stream = argument.parts[1];
  const TypePtr type = site.argument_type->first();
  std::vector<VectorType> types;
  append_types(f.types(), type, types);
  ValueList vars;
  JointStatus joint(f);
  for (const VectorType vector_type : types) {
    const ValueList results = b.operation(Op::FRead, vector_type, {stream.var});
    vars.push_back(results[0]);
    joint.add(results[1], results[2]);
  }
  const auto made_of = [&](const ValueList& from) {
    std::size_t next = 0;
    return make_value(f.types(), type, from, next, f.serial());
  };
  if (!vars.empty()) {
    joint.also(has_lengths_of(b, made_of(vars), b.int_constant(1)),
               "what stands there is no value of this type");
    const Value prototype = f.bring(argument.parts[0], f.serial());
    vars = b.conditional(
        joint.flag(), [&] { return vars; }, [&] { return vars_of(prototype); });
  }
  const Value result = made_of(vars);
  for_each_leaf(result, [&](const Value& leaf) { f.vectors().set_length(leaf, ir::kOne); });
  return Value::tuple({result, joint.value()});
}

/// (command, in, out, err): ((in, out, err), flag, message)
Value spawn(Flattener& f, const CallSite&, const Value& argument) {
  const std::vector<Value> parts = components(argument, 4);
  const ValueList results =
      f.builder().operation(Op::Spawn, VectorType::Int,
                            {parts[0].elements().var, parts[1].var, parts[2].var, parts[3].var});
  return Value::tuple(
      {Value::tuple({scalar_value(f, results[2]),
                     Value::tuple({scalar_value(f, results[1]), scalar_value(f, results[0])})}),
       status(f, results[3], results[4])});
}

}  // namespace

std::vector<PrimitiveEntry> io_primitives() {
  return {
      {"print_string", print_string},
      {"print_char", print_char},
      {"open_in_file", open<kReadMode>},
      {"open_out_file", open<kWriteMode>},
      {"open_append_file", open<kAppendMode>},
      {"machine.open_insert", open<kInsertMode>},
      {"machine.open_new", open<kNewMode>},
      {"machine.draw", draw},
      {"close_file", close},
      {"write_char", write_text},
      {"write_string", write_text},
      {"read_string", read_string},
      {"machine.get_ints", read_numbers<VectorType::Int>},
      {"machine.get_floats", read_numbers<VectorType::Float>},
      {"machine.put_ints", write_numbers<VectorType::Int>},
      {"machine.put_floats", write_numbers<VectorType::Float>},
      {"machine.read_ints", read_vector<VectorType::Int>},
      {"machine.read_floats", read_vector<VectorType::Float>},
      {"write_object", write_object},
      {"read_object", read_object},
      {"spawn", spawn},
  };
}

}  // namespace neslc
