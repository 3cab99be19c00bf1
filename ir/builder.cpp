#include "ir/builder.hpp"

#include "vcode/comparisons.hpp"
#include "vcode/numbers.hpp"

namespace ir {

using vcode::fits_32_bits;

bool ConstantPool::Order::operator()(std::uint32_t a, std::uint32_t b) const {
  return comes_before(module.constants[a], module.constants[b]);
}

std::uint32_t ConstantPool::add(vcode::Constant literal) {
  const std::uint32_t number = add_new(std::move(literal), -1);
  const auto [at, inserted] = known_.insert(number);
  if (!inserted) drop_last();
  return *at;
}

std::uint32_t ConstantPool::add_given(std::int64_t component, Type type) {
  const auto [at, inserted] = given_.try_emplace(component, 0);
  if (inserted) at->second = add_new(empty_constant(type), component);
  return at->second;
}

std::uint32_t ConstantPool::add_new(vcode::Constant constant, std::int64_t component) {
  module_.constants.push_back(std::move(constant));
  module_.given.push_back(component >= 0);
  components_.push_back(component);
  return static_cast<std::uint32_t>(components_.size() - 1);
}

void ConstantPool::drop_last() {
  module_.constants.pop_back();
  module_.given.pop_back();
  components_.pop_back();
}

std::size_t Builder::KeyHash::operator()(const Key& key) const {
  std::size_t hash = 1469598103934665603U;
  for (const std::uint32_t word : key) hash = (hash ^ word) * 1099511628211U;
  return hash;
}

Builder::Builder(Module& module, ConstantPool& pool)
    : module_(module), pool_(pool), block_(&function_.body) {}

ValueId Builder::new_variable(Type type) {
  const LengthId length = new_length();
  variables_.push_back({type, length, new_length(), {}});
  return new_value(function_, type, origin);
}

ValueId Builder::parameter(Type type) {
  const ValueId value = new_variable(type);
  function_.parameters.push_back(value);
  return value;
}

const Statement& Builder::append(Statement statement) {
  statement.origin = origin;
  for (std::uint32_t i = 0; i < statement.results.size(); ++i) {
    variables_[statement.results[i]].definition = definition_of(statement, i);
  }
  block_->statements.push_back(std::move(statement));
  return block_->statements.back();
}

ValueId Builder::op(Op op, Type type, std::initializer_list<ValueId> operands) {
  return operation(op, type, operands).front();
}

ValueList Builder::operation(Op op, Type type, ValueList operands) {
  const vcode::OpInfo& info = vcode::info(op);
  const bool pure = info.is_vector_op() && op != Op::Rand;
  Key key;
  if (pure) {
    if (const std::optional<ValueId> value = folded(op, type, operands)) return {*value};
    key = {static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(type)};
    key.insert(key.end(), operands.begin(), operands.end());
    if (const auto found = computed_.find(key); found != computed_.end()) return found->second;
  }
  Statement statement;
  statement.op = op;
  statement.written = type;
  statement.operands = std::move(operands);
  for (const char letter : info.results) {
    statement.results.push_back(new_variable(
        vcode::operand_type(letter, vcode::value_type(type)).value_or(vcode::value_type(type))));
  }
  const Statement& made = append(std::move(statement));
  set_lengths(made);
  if (pure) {
    computed_.emplace(key, made.results);
    computed_trail_.push_back(std::move(key));
  }
  return made.results;
}

void Builder::set_lengths(const Statement& made) {
  const auto length = [&](std::size_t operand) { return variable(made.operands[operand]).length; };
  const auto total = [&](std::size_t operand) { return variable(made.operands[operand]).total; };
  if (const auto term = vcode::result_length(made.op)) {
    set_length(made.results[0], term->described ? total(term->operand) : length(term->operand));
  }
  const vcode::OpInfo& info = vcode::info(made.op);
  switch (info.family) {
    case vcode::Family::Length:
      set_length(made.results[0], kOne);
      break;
    case vcode::Family::MakeSegdes:
      if (length(0) == kOne) remember_single(variable(made.results[0]).total, made.results[0]);
      break;
    case vcode::Family::Pack:
      set_packed_lengths(made);
      break;
    case vcode::Family::Timer:
    case vcode::Family::Io:
      break;
    default:
      if (info.is_vector_op()) break;
      for (const ValueId result : made.results) set_length(result, kOne);
  }
}

// Equal flags leave equally many elements.
void Builder::set_packed_lengths(const Statement& pack) {
  const ValueId packed = pack.results[0], descriptor = pack.results[1];
  const LengthId segments = variable(pack.operands[2]).length;
  const Key key{~0U, pack.operands[1], pack.operands[2]};
  const auto [found, added] = computed_.try_emplace(key, ValueList{variable(packed).length});
  if (added) computed_trail_.push_back(key);
  const LengthId kept = found->second.front();
  set_length(packed, kept);
  set_length(descriptor, segments);
  set_total(descriptor, kept);
  if (segments == kOne) remember_single(kept, descriptor);
}

ValueId Builder::pooled(std::uint32_t constant, Type type) {
  const Key key{~1U, constant};
  if (const auto found = computed_.find(key); found != computed_.end()) {
    return found->second.front();
  }
  Statement statement;
  statement.kind = module_.given[constant] ? Statement::Kind::Given : Statement::Kind::Const;
  statement.index = constant;
  statement.results = {new_variable(type)};
  const ValueId result = append(std::move(statement)).results.front();
  computed_.emplace(key, ValueList{result});
  computed_trail_.push_back(key);
  return result;
}

ValueId Builder::constant(vcode::Constant literal) {
  const Type type = literal.type;
  const bool one = literal.size() == 1;
  const ValueId result = pooled(pool_.add(std::move(literal)), type);
  if (one) {
    set_length(result, kOne);
    if (type == Type::Segdes) remember_single(variable(result).total, result);
  }
  return result;
}

ValueId Builder::int_constant(std::int64_t value) {
  return constant(ir::int_constant(value));
}

ValueId Builder::float_constant(double value) {
  return constant(ir::float_constant(value));
}

ValueId Builder::bool_constant(bool value) {
  return constant(ir::bool_constant(value));
}

ValueId Builder::null_constant(Type type) {
  return constant(ir::null_constant(type));
}

ValueId Builder::text_constant(const std::string& text) {
  return constant(ir::text_constant(text));
}

ValueId Builder::empty(Type type) {
  return constant(empty_constant(type));
}

ValueId Builder::single_constant(std::int64_t length) {
  vcode::Constant literal;
  literal.type = Type::Segdes;
  literal.form = vcode::ConstantForm::Scalar;
  literal.elements = std::vector<std::int64_t>{length};
  const ValueId result = constant(std::move(literal));
  if (length == 1) set_total(result, kOne);
  return result;
}

ValueId Builder::given_constant(std::int64_t component, Type type) {
  return pooled(pool_.add_given(component, type), type);
}

const vcode::Constant* Builder::known(ValueId value) const {
  const Definition& definition = variable(value).definition;
  return definition.is_const() ? &module_.constants[definition.index] : nullptr;
}

std::optional<std::int64_t> Builder::known_int(ValueId value) const {
  const vcode::Constant* literal = known(value);
  if (literal == nullptr || literal->type != Type::Int || literal->size() != 1 ||
      literal->form != vcode::ConstantForm::Scalar) {
    return std::nullopt;
  }
  return literal->ints().front();
}

std::optional<bool> Builder::known_bool(ValueId value) const {
  const vcode::Constant* literal = known(value);
  if (literal == nullptr || literal->type != Type::Bool || literal->size() != 1) {
    return std::nullopt;
  }
  return literal->bools().front() != 0;
}

std::optional<double> Builder::known_float(ValueId value) const {
  const vcode::Constant* literal = known(value);
  if (literal == nullptr || literal->type != Type::Float || literal->size() != 1) {
    return std::nullopt;
  }
  return literal->floats().front();
}

std::optional<ValueId> Builder::folded(Op op, Type type, const ValueList& operands) {
  if (op == Op::Lengths) {
    if (const vcode::Constant* literal = known(operands[0]);
        literal != nullptr && literal->form == vcode::ConstantForm::Scalar) {
      return int_constant(literal->ints().front());
    }
    const Definition& definition = variable(operands[0]).definition;
    if (definition.is(Op::MakeSegdes)) return definition.operands[0];
    return std::nullopt;
  }
  if (op == Op::MakeSegdes) {
    if (const auto length = known_int(operands[0])) {
      if (*length >= 0) return single_constant(*length);
    }
    const Definition& definition = variable(operands[0]).definition;
    if (definition.is(Op::Lengths)) return definition.operands[0];
    return std::nullopt;
  }
  if (op == Op::Select) {
    if (operands[1] == operands[2]) return operands[1];
    if (const auto flag = known_bool(operands[0])) return *flag ? operands[1] : operands[2];
    return std::nullopt;
  }
  if (op == Op::Not && type == Type::Bool) {
    if (const auto flag = known_bool(operands[0])) return bool_constant(!*flag);
    return std::nullopt;
  }
  if (operands.size() == 2 && type == Type::Int) {
    const auto left = known_int(operands[0]);
    const auto right = known_int(operands[1]);
    if (right && *right == 0 && (op == Op::Add || op == Op::Subtract)) return operands[0];
    if (left && *left == 0 && op == Op::Add && variable(operands[1]).length == kOne)
      return operands[1];
    // Only what has the same value in integers of every width.
    if (!left || !right || !fits_32_bits(*left) || !fits_32_bits(*right)) return std::nullopt;
    switch (op) {
      case Op::Add:
        if (fits_32_bits(*left + *right)) return int_constant(*left + *right);
        break;
      case Op::Subtract:
        if (fits_32_bits(*left - *right)) return int_constant(*left - *right);
        break;
      case Op::Multiply:
        if (fits_32_bits(*left * *right)) return int_constant(*left * *right);
        break;
      default:
        if (vcode::is_comparison(op)) return bool_constant(vcode::holds(op, *left, *right));
        break;
    }
    return std::nullopt;
  }
  if (type == Type::Float && op == Op::Subtract) {
    const auto left = known_float(operands[0]);
    const auto right = known_float(operands[1]);
    if (left && right && *left == 0 && *right != 0) return float_constant(-*right);
    return std::nullopt;
  }
  if (type == Type::Bool && op == Op::Or) {
    if (known_bool(operands[0]) == false) return operands[1];
    if (known_bool(operands[1]) == false) return operands[0];
  }
  return std::nullopt;
}

void Builder::remember_single(LengthId length, ValueId descriptor) {
  if (singles_.emplace(length, descriptor).second) singles_trail_.push_back(length);
}

void Builder::equate(LengthId a, LengthId b) {
  if (const auto found = singles_.find(a); found != singles_.end()) {
    remember_single(b, found->second);
  } else if (const auto other = singles_.find(b); other != singles_.end()) {
    remember_single(a, other->second);
  }
}

ValueId Builder::number_of(LengthId length, ValueId sample) {
  if (length == kOne) return int_constant(1);
  if (const auto found = singles_.find(length); found != singles_.end()) {
    return op(Op::Lengths, Type::Int, {found->second});
  }
  return op(Op::Length, variable(sample).type, {sample});
}

ValueId Builder::single(LengthId length, ValueId sample) {
  if (length == kOne) return single_constant(1);
  if (const auto found = singles_.find(length); found != singles_.end()) return found->second;
  const ValueId descriptor = op(Op::MakeSegdes, Type::Int, {number_of(length, sample)});
  set_total(descriptor, length);
  remember_single(length, descriptor);
  return descriptor;
}

Statement Builder::begin_conditional(ValueId condition) {
  Statement statement;
  statement.kind = Statement::Kind::If;
  statement.operands = {condition};
  statement.then_block = std::make_unique<Block>();
  statement.else_block = std::make_unique<Block>();
  return statement;
}

void Builder::in_block(Block& block, const std::function<void()>& action) {
  Block* const outer = block_;
  const std::size_t computed = computed_trail_.size();
  const std::size_t singles = singles_trail_.size();
  const Origin outer_origin = origin;
  block_ = &block;
  action();
  block_ = outer;
  origin = outer_origin;
  for (; computed_trail_.size() > computed; computed_trail_.pop_back()) {
    computed_.erase(computed_trail_.back());
  }
  for (; singles_trail_.size() > singles; singles_trail_.pop_back()) {
    singles_.erase(singles_trail_.back());
  }
}

ValueList Builder::end_conditional(Statement conditional) {
  const Block& ends =
      conditional.then_block->diverges ? *conditional.else_block : *conditional.then_block;
  for (const ValueId result : ends.results) {
    conditional.results.push_back(new_variable(variable(result).type));
  }
  return append(std::move(conditional)).results;
}

ValueList Builder::conditional(ValueId condition, const Arm& then_arm, const Arm& else_arm) {
  Statement statement = begin_conditional(condition);
  in_block(*statement.then_block, [&] { statement.then_block->results = then_arm(); });
  in_block(*statement.else_block, [&] { statement.else_block->results = else_arm(); });
  return end_conditional(std::move(statement));
}

ValueList Builder::call(std::uint32_t function, ValueList operands,
                        const std::vector<Type>& results) {
  Statement statement;
  statement.kind = Statement::Kind::Call;
  statement.index = function;
  statement.operands = std::move(operands);
  for (const Type type : results) statement.results.push_back(new_variable(type));
  return append(std::move(statement)).results;
}

void Builder::fail(const std::vector<Written>& message) {
  for (const Written& piece : message) {
    operation(Op::Write, Type::Char, {text_constant(piece.text)});
    if (piece.value == kNoValue) continue;
    operation(Op::Write, piece.as.value_or(variable(piece.value).type), {piece.value});
  }
  Statement exit;
  exit.kind = Statement::Kind::Exit;
  append(std::move(exit));
  block_->diverges = true;
}

Function Builder::finish(std::string name, const Origin& origin, ValueList results) {
  function_.name = std::move(name);
  function_.origin = origin;
  for (const ValueId result : results) function_.result_types.push_back(variable(result).type);
  function_.body.results = std::move(results);
  drop_unused(function_);
  return std::move(function_);
}

}  // namespace ir
