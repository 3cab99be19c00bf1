#include "neslc/ir_builder.hpp"

#include <cstring>
#include <limits>

namespace neslc::ir {

using vcode::Op;
using vcode::Type;

std::uint32_t ConstantPool::add(vcode::Constant literal) {
  std::string key{static_cast<char>(literal.type), static_cast<char>(literal.form)};
  std::visit(
      [&](const auto& elements) {
        key.append(reinterpret_cast<const char*>(elements.data()),
                   elements.size() * sizeof(elements[0]));
      },
      literal.elements);
  const auto [at, inserted] =
      index_.try_emplace(std::move(key), static_cast<std::uint32_t>(module_.constants.size()));
  if (inserted) module_.constants.push_back({std::move(literal), -1});
  return at->second;
}

std::uint32_t ConstantPool::add_value(std::int64_t component, Type type) {
  const auto [at, inserted] = index_.try_emplace(
      "value " + std::to_string(component), static_cast<std::uint32_t>(module_.constants.size()));
  if (inserted) {
    vcode::Constant literal;
    literal.type = type;
    if (type == Type::Float) literal.elements = std::vector<double>();
    if (type == Type::Bool) literal.elements = std::vector<std::uint8_t>();
    module_.constants.push_back({std::move(literal), component});
  }
  return at->second;
}

std::size_t Builder::KeyHash::operator()(const Key& key) const {
  std::size_t hash = 1469598103934665603U;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 1099511628211U;
  return hash;
}

Builder::Builder(Module& module, ConstantPool& pool, Function& function)
    : module_(module), pool_(pool), function_(function), block_(&function.body) {}

Var Builder::new_variable(Type type) {
  Variable variable;
  variable.type = type;
  variable.length = new_length();
  variable.total = new_length();
  function_.variables.push_back(variable);
  return static_cast<Var>(function_.variables.size() - 1);
}

Var Builder::parameter(Type type) {
  const Var var = new_variable(type);
  function_.parameters.push_back(var);
  return var;
}

Instr& Builder::append(Instr instr) {
  instr.place = place;
  block_->code.push_back(std::make_unique<Instr>(std::move(instr)));
  Instr& result = *block_->code.back();
  for (const Var out : result.out) function_.variables[out].definition = &result;
  return result;
}

Var Builder::op(Op op, Type type, std::initializer_list<Var> in) {
  return operation(op, type, in).front();
}

std::vector<Var> Builder::operation(Op op, Type type, std::vector<Var> in) {
  const vcode::OpInfo& info = vcode::info(op);
  const bool pure = info.is_vector_op() && op != Op::Rand;
  Key key;
  if (pure) {
    if (const std::optional<Var> value = folded(op, type, in)) return {*value};
    key = {static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(type)};
    key.insert(key.end(), in.begin(), in.end());
    if (const auto found = computed_.find(key); found != computed_.end()) return found->second;
  }
  Instr instr;
  instr.kind = Instr::Kind::Op;
  instr.op = op;
  instr.type = type;
  instr.in = std::move(in);
  for (const char letter : info.results) {
    instr.out.push_back(new_variable(
        vcode::operand_type(letter, vcode::value_type(type)).value_or(vcode::value_type(type))));
  }
  const Instr& made = append(std::move(instr));
  set_lengths(made);
  if (pure) {
    computed_.emplace(key, made.out);
    computed_trail_.push_back(std::move(key));
  }
  return made.out;
}

void Builder::set_lengths(const Instr& instr) {
  const auto length = [&](std::size_t operand) { return variable(instr.in[operand]).length; };
  const auto total = [&](std::size_t operand) { return variable(instr.in[operand]).total; };
  const vcode::OpInfo& info = vcode::info(instr.op);
  switch (info.family) {
    case vcode::Family::Reduce:
    case vcode::Family::Lengths:
      set_length(instr.out[0], length(instr.in.size() - 1));
      break;
    case vcode::Family::Distribute:
    case vcode::Family::Index:
      set_length(instr.out[0], total(instr.in.size() - 1));
      break;
    case vcode::Family::Combine:
      set_length(instr.out[0], total(3));
      break;
    case vcode::Family::Extract:
      set_length(instr.out[0], length(1));
      break;
    case vcode::Family::Length:
      set_length(instr.out[0], kOne);
      break;
    case vcode::Family::MakeSegdes:
      set_length(instr.out[0], length(0));
      if (length(0) == kOne) remember_single(variable(instr.out[0]).total, instr.out[0]);
      break;
    case vcode::Family::Pack:
      set_length(instr.out[1], length(2));
      // Equal flags leave equally many elements.
      {
        const Key key{~0U, instr.in[1], instr.in[2]};
        const auto found = computed_.find(key);
        const LengthId kept =
            found != computed_.end() ? found->second.front() : variable(instr.out[0]).length;
        if (found == computed_.end()) {
          computed_.emplace(key, std::vector<Var>{kept});
          computed_trail_.push_back(key);
        }
        set_length(instr.out[0], kept);
        set_total(instr.out[1], kept);
        if (length(2) == kOne) remember_single(kept, instr.out[1]);
      }
      break;
    case vcode::Family::Permute:
      if (instr.op == Op::Permute) set_length(instr.out[0], length(0));
      if (instr.op == Op::DPermute) set_length(instr.out[0], length(2));
      if (instr.op == Op::BPermute || instr.op == Op::BFPermute) {
        set_length(instr.out[0], length(1));
      }
      if (instr.op == Op::FPermute) set_length(instr.out[0], total(4));
      break;
    case vcode::Family::Timer:
    case vcode::Family::Io:
      break;
    default:
      if (!info.is_vector_op()) {
        for (const Var out : instr.out) set_length(out, kOne);
      } else if (!instr.in.empty()) {
        set_length(instr.out[0], length(0));
      }
  }
}

Var Builder::constant(std::uint32_t pool_index, Type type) {
  const Key key{~1U, pool_index};
  if (const auto found = computed_.find(key); found != computed_.end()) {
    return found->second.front();
  }
  Instr instr;
  instr.kind = Instr::Kind::Constant;
  instr.index = pool_index;
  instr.type = type;
  instr.out = {new_variable(type)};
  const Var result = append(std::move(instr)).out.front();
  computed_.emplace(key, std::vector<Var>{result});
  computed_trail_.push_back(key);
  return result;
}

Var Builder::constant(vcode::Constant literal) {
  const Type type = literal.type;
  const bool one = literal.size() == 1;
  const Var result = constant(pool_.add(std::move(literal)), type);
  if (one) {
    set_length(result, kOne);
    if (type == Type::Segdes) remember_single(variable(result).total, result);
  }
  return result;
}

Var Builder::int_constant(std::int64_t value) {
  vcode::Constant literal;
  literal.form = vcode::ConstantForm::Scalar;
  literal.elements = std::vector<std::int64_t>{value};
  return constant(std::move(literal));
}

Var Builder::float_constant(double value) {
  vcode::Constant literal;
  literal.type = Type::Float;
  literal.form = vcode::ConstantForm::Scalar;
  literal.elements = std::vector<double>{value};
  return constant(std::move(literal));
}

Var Builder::bool_constant(bool value) {
  vcode::Constant literal;
  literal.type = Type::Bool;
  literal.form = vcode::ConstantForm::Scalar;
  literal.elements = std::vector<std::uint8_t>{value};
  return constant(std::move(literal));
}

Var Builder::empty(Type type) {
  vcode::Constant literal;
  literal.type = type;
  if (type == Type::Float) literal.elements = std::vector<double>();
  if (type == Type::Bool) literal.elements = std::vector<std::uint8_t>();
  return constant(std::move(literal));
}

Var Builder::single_constant(std::int64_t length) {
  vcode::Constant literal;
  literal.type = Type::Segdes;
  literal.form = vcode::ConstantForm::Scalar;
  literal.elements = std::vector<std::int64_t>{length};
  const Var result = constant(std::move(literal));
  if (length == 1) set_total(result, kOne);
  return result;
}

Var Builder::value_constant(std::int64_t component, Type type) {
  return constant(pool_.add_value(component, type), type);
}

const vcode::Constant* Builder::known(Var var) const {
  const Instr* definition = variable(var).definition;
  if (definition == nullptr || definition->kind != Instr::Kind::Constant) return nullptr;
  const Module::Constant& constant = module_.constants[definition->index];
  return constant.value < 0 ? &constant.literal : nullptr;
}

std::optional<std::int64_t> Builder::known_int(Var var) const {
  const vcode::Constant* literal = known(var);
  if (literal == nullptr || literal->type != Type::Int || literal->size() != 1 ||
      literal->form != vcode::ConstantForm::Scalar) {
    return std::nullopt;
  }
  return literal->ints().front();
}

std::optional<bool> Builder::known_bool(Var var) const {
  const vcode::Constant* literal = known(var);
  if (literal == nullptr || literal->type != Type::Bool || literal->size() != 1) {
    return std::nullopt;
  }
  return literal->bools().front() != 0;
}

std::optional<double> Builder::known_float(Var var) const {
  const vcode::Constant* literal = known(var);
  if (literal == nullptr || literal->type != Type::Float || literal->size() != 1) {
    return std::nullopt;
  }
  return literal->floats().front();
}

std::optional<Var> Builder::folded(Op op, Type type, const std::vector<Var>& in) {
  // Only what has the same value in integers of every width.
  const auto fits = [](std::int64_t value) {
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
  };
  if (op == Op::Lengths) {
    if (const vcode::Constant* literal = known(in[0]);
        literal != nullptr && literal->form == vcode::ConstantForm::Scalar) {
      return int_constant(literal->ints().front());
    }
    const Instr* definition = variable(in[0]).definition;
    if (definition != nullptr && definition->kind == Instr::Kind::Op &&
        definition->op == Op::MakeSegdes) {
      return definition->in[0];
    }
    return std::nullopt;
  }
  if (op == Op::MakeSegdes) {
    if (const auto length = known_int(in[0])) {
      if (*length >= 0) return single_constant(*length);
    }
    const Instr* definition = variable(in[0]).definition;
    if (definition != nullptr && definition->kind == Instr::Kind::Op &&
        definition->op == Op::Lengths) {
      return definition->in[0];
    }
    return std::nullopt;
  }
  if (op == Op::Select) {
    if (in[1] == in[2]) return in[1];
    if (const auto flag = known_bool(in[0])) return *flag ? in[1] : in[2];
    return std::nullopt;
  }
  if (op == Op::Not && type == Type::Bool) {
    if (const auto flag = known_bool(in[0])) return bool_constant(!*flag);
    return std::nullopt;
  }
  if (in.size() == 2 && type == Type::Int) {
    const auto left = known_int(in[0]);
    const auto right = known_int(in[1]);
    if (right && *right == 0 && (op == Op::Add || op == Op::Subtract)) return in[0];
    if (left && *left == 0 && op == Op::Add && variable(in[1]).length == kOne) return in[1];
    if (!left || !right || !fits(*left) || !fits(*right)) return std::nullopt;
    switch (op) {
      case Op::Add:
        if (fits(*left + *right)) return int_constant(*left + *right);
        break;
      case Op::Subtract:
        if (fits(*left - *right)) return int_constant(*left - *right);
        break;
      case Op::Multiply:
        if (fits(*left * *right)) return int_constant(*left * *right);
        break;
      case Op::Equal:
        return bool_constant(*left == *right);
      case Op::NotEqual:
        return bool_constant(*left != *right);
      case Op::Less:
        return bool_constant(*left < *right);
      case Op::LessEqual:
        return bool_constant(*left <= *right);
      case Op::Greater:
        return bool_constant(*left > *right);
      case Op::GreaterEqual:
        return bool_constant(*left >= *right);
      default:
        break;
    }
    return std::nullopt;
  }
  if (type == Type::Float && op == Op::Subtract) {
    const auto left = known_float(in[0]);
    const auto right = known_float(in[1]);
    if (left && right && *left == 0 && *right != 0) return float_constant(-*right);
    return std::nullopt;
  }
  if (type == Type::Bool && op == Op::Or) {
    if (known_bool(in[0]) == false) return in[1];
    if (known_bool(in[1]) == false) return in[0];
  }
  return std::nullopt;
}

void Builder::remember_single(LengthId length, Var descriptor) {
  if (singles_.emplace(length, descriptor).second) singles_trail_.push_back(length);
}

void Builder::equate(LengthId a, LengthId b) {
  if (const auto found = singles_.find(a); found != singles_.end()) {
    remember_single(b, found->second);
  } else if (const auto other = singles_.find(b); other != singles_.end()) {
    remember_single(a, other->second);
  }
}

Var Builder::number_of(LengthId length, Var sample) {
  if (length == kOne) return int_constant(1);
  if (const auto found = singles_.find(length); found != singles_.end()) {
    return op(Op::Lengths, Type::Int, {found->second});
  }
  return op(Op::Length, variable(sample).type, {sample});
}

Var Builder::single(LengthId length, Var sample) {
  if (length == kOne) return single_constant(1);
  if (const auto found = singles_.find(length); found != singles_.end()) return found->second;
  const Var descriptor = op(Op::MakeSegdes, Type::Int, {number_of(length, sample)});
  set_total(descriptor, length);
  remember_single(length, descriptor);
  return descriptor;
}

Instr* Builder::begin_conditional(Var condition) {
  Instr instr;
  instr.kind = Instr::Kind::If;
  instr.in = {condition};
  return &append(std::move(instr));
}

void Builder::in_block(Block& block, const std::function<void()>& action) {
  Block* const outer = block_;
  const std::size_t computed = computed_trail_.size();
  const std::size_t singles = singles_trail_.size();
  const Place outer_place = place;
  block_ = &block;
  action();
  block_ = outer;
  place = outer_place;
  for (; computed_trail_.size() > computed; computed_trail_.pop_back()) {
    computed_.erase(computed_trail_.back());
  }
  for (; singles_trail_.size() > singles; singles_trail_.pop_back()) {
    singles_.erase(singles_trail_.back());
  }
}

std::vector<Var> Builder::end_conditional(Instr* conditional) {
  for (const Var result : conditional->then_block.results) {
    const Var out = new_variable(variable(result).type);
    function_.variables[out].definition = conditional;
    conditional->out.push_back(out);
  }
  return conditional->out;
}

std::vector<Var> Builder::conditional(Var condition, const Arm& then_arm, const Arm& else_arm) {
  Instr* const instr = begin_conditional(condition);
  in_block(instr->then_block, [&] { instr->then_block.results = then_arm(); });
  in_block(instr->else_block, [&] { instr->else_block.results = else_arm(); });
  return end_conditional(instr);
}

std::vector<Var> Builder::call(const Function& callee, std::vector<Var> in,
                               const std::vector<Type>& results) {
  Instr instr;
  instr.kind = Instr::Kind::Call;
  instr.callee = &callee;
  instr.in = std::move(in);
  for (const Type type : results) instr.out.push_back(new_variable(type));
  return append(std::move(instr)).out;
}

void Builder::fail(Failure failure, std::vector<Var> values) {
  Instr instr;
  instr.kind = Instr::Kind::Fail;
  instr.index = static_cast<std::uint32_t>(module_.failures.size());
  instr.in = std::move(values);
  module_.failures.push_back(std::move(failure));
  append(std::move(instr));
}

}  // namespace neslc::ir
