#include "neslc/flatten/compiler.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "neslc/flatten/flattener.hpp"
#include "vcode/strong_components.hpp"

namespace neslc {
namespace {

// A body of at most so many nodes, with all that is put in its place in turn, replaces its calls.
constexpr int kInlineSize = 80;
constexpr int kTooLarge = 1'000'000;

/// A name that VCODE accepts, the number being its own: operators and internal names become words.
std::string vcode_name(const Version& version, std::uint32_t number) {
  const std::string name = version.definition != nullptr ? version.definition->name : "lambda";
  std::string result;
  for (const char c : name) {
    result += std::isalnum(static_cast<unsigned char>(c)) != 0
                  ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                  : '_';
  }
  return result + "_" + std::to_string(number);
}

}  // namespace

Compiler::Compiler(Session& session, TopLevelValues& values, CompileOptions options)
    : session_(session), values_(values), options_(options), pool_(module_) {}

FlatProgram Compiler::compile(const Body& body) {
  module_.source = body.source;
  module_.scopes.push_back({.source = body.source});
  module_.functions.emplace_back();
  ir::Function main = Flattener(*this).flatten_expression(body);
  module_.functions[0] = std::move(main);
  while (!worklist_.empty()) {
    const auto [version, index] = worklist_.back();
    worklist_.pop_back();
    Flattener flattener(*this);
    ir::Function function = flattener.flatten_version(version, vcode_name(version, index));
    const bool apart = version.apart ||
                       (!version.lifted && flattener.copies_for_calls() && options_.for_optimizer);
    function.serial = serial_function(version, index, apart);
    module_.functions[index] = std::move(function);
  }
  // Where the function for one instance copies sequences for its calls, another one does not.
  for (ir::Function& function : module_.functions) {
    if (!function.serial) continue;
    const std::optional<ir::SerialFunction>& other =
        module_.functions[function.serial->function].serial;
    if (other) function.serial->function = other->function;
  }
  FlatProgram program{std::move(module_), has_streams_, pool_.components()};
  computed_.hand_down(program.module, program.components);
  return program;
}

std::int64_t Compiler::first_component(const Definition& variable) {
  const std::int64_t given = values_.first_component(variable);
  if (given >= 0 || !is_computed_once(variable)) return given;
  return computed_.first_component(types(), variable);
}

const ObservedFunction* Compiler::observed(const Definition* definition) const {
  if (options_.observed == nullptr) return nullptr;
  const auto found = options_.observed->find(definition);
  return found == options_.observed->end() ? nullptr : &found->second;
}

std::uint32_t Compiler::function(const Version& version) {
  const auto next = static_cast<std::uint32_t>(module_.functions.size());
  const auto [at, inserted] = functions_.try_emplace(version, next);
  if (inserted) {
    module_.functions.emplace_back();
    worklist_.emplace_back(version, next);
  }
  return at->second;
}

/// Of a function for one instance; nothing if no loop can have them.
std::optional<std::vector<ir::SerialFunction::Parameter>> Compiler::serial_parameters(
    const Version& version) {
  if (version.definition == nullptr || observed(version.definition) != nullptr ||
      !calls_itself(*version.definition)) {
    return std::nullopt;
  }
  // A loop of one instance may change sequences, and end with any of them.
  if (!is_scalar_type(version.result_type) &&
      (version.lifted || !may_end_with_call(version.body(), *version.definition))) {
    return std::nullopt;
  }
  std::vector<ir::SerialFunction::Parameter> parameters;
  std::size_t leaf = 0;
  const auto kind = [&] {
    if (!version.lifted) return Version::Passed::Uniform;
    return leaf < version.passed.size() ? version.passed[leaf++] : Version::Passed::Each;
  };
  if (!append_parameters(types(), version.argument_type, kind, parameters)) return std::nullopt;
  return parameters;
}

bool Compiler::may_be_loop(const Version& version) {
  return options_.for_optimizer && serial_parameters(version) &&
         calls_last(version.body(), *version.definition);
}

/// Functions that may be loops, for optimizers that make them: what number `index` does.
/// `apart`: the one for one instance makes its calls one after another.
std::optional<ir::SerialFunction> Compiler::serial_function(const Version& version,
                                                            std::uint32_t index, bool apart) {
  auto parameters = serial_parameters(version);
  if (!parameters) return std::nullopt;
  ir::SerialFunction result;
  result.own = static_cast<std::uint32_t>(parameters->size());
  result.parameters = std::move(*parameters);
  result.single = !version.lifted;
  Version serial = version;
  serial.lifted = false;
  serial.passed.clear();
  serial.apart = apart;
  result.function = serial == version ? index : function(serial);
  return result;
}

std::uint32_t Compiler::new_stream_function() {
  has_streams_ = true;
  module_.functions.emplace_back();
  return static_cast<std::uint32_t>(module_.functions.size() - 1);
}

void Compiler::set_function(std::uint32_t index, ir::Function function) {
  module_.functions[index] = std::move(function);
}

bool Compiler::go_to_caller(ir::Origin& origin) const {
  const ir::Scope& scope = module_.scopes[origin.scope];
  if (scope.caller == ir::kNoScope) return false;
  origin = {scope.call, scope.caller};
  return true;
}

WrittenPlace Compiler::written(ir::Origin origin) const {
  while (module_.scopes[origin.scope].library && go_to_caller(origin)) continue;
  const ir::Scope& scope = module_.scopes[origin.scope];
  return {origin.span, scope.source, scope.function};
}

bool Compiler::inline_call(const Version& version) {
  if (version.lambda != nullptr) return size_of(*version.lambda->body) <= kInlineSize;
  return expanded_size(*version.definition) <= kInlineSize;
}

int Compiler::recursion_of(const Definition& definition) {
  if (const auto found = recursions_.find(&definition); found != recursions_.end()) {
    return found->second;
  }
  // Of what it reaches and what is not known yet; what is known reaches nothing else.
  std::vector<const Definition*> definitions;
  std::unordered_map<const Definition*, std::uint32_t> numbers;
  const auto number = [&](const Definition* one) {
    const auto [entry, added] = numbers.try_emplace(one, definitions.size());
    if (added) definitions.push_back(one);
    return entry->second;
  };
  number(&definition);
  vcode::Edges edges;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const Body* const body = definitions[i]->body.get();
    edges.emplace_back();
    if (body == nullptr) continue;
    for (const Body::Reference& reference : body->references) {
      if (recursions_.contains(reference.definition)) continue;
      edges[i].push_back(number(reference.definition));
    }
  }
  for (const std::vector<std::uint32_t>& group : vcode::strong_components(edges)) {
    const auto calls_itself = [&](std::uint32_t one) {
      return std::find(edges[one].begin(), edges[one].end(), one) != edges[one].end();
    };
    const bool recurs = group.size() > 1 || calls_itself(group[0]);
    const int recursion = recurs ? ++number_of_recursions_ : 0;
    for (const std::uint32_t one : group) recursions_[definitions[one]] = recursion;
  }
  return recursions_.at(&definition);
}

bool Compiler::recurs_unconditionally(const Definition& definition) {
  if (!calls_itself(definition)) return false;
  std::set<const Definition*> seen;
  std::vector<const Definition*> pending{&definition};
  while (!pending.empty()) {
    const Definition* next = pending.back();
    pending.pop_back();
    if (!next->body) continue;
    for (const Definition* mentioned : mentioned_unconditionally(*next->body)) {
      if (mentioned == &definition) return true;
      if (seen.insert(mentioned).second) pending.push_back(mentioned);
    }
  }
  return false;
}

int Compiler::expanded_size(const Definition& definition) {
  if (!definition.body) return 1;
  if (const auto found = sizes_.find(&definition); found != sizes_.end()) return found->second;
  if (calls_itself(definition)) return sizes_[&definition] = kTooLarge;
  int size = size_of(*definition.body->expression);
  for (const Body::Reference& reference : definition.body->references) {
    const int inner = expanded_size(*reference.definition);
    if (inner <= kInlineSize) size += inner;
  }
  return sizes_[&definition] = size;
}

std::uint32_t Compiler::add_scope(const Version& version) {
  ir::Scope& scope = module_.scopes.emplace_back();
  if (version.lambda != nullptr) {
    const std::string& enclosing = version.lambda->enclosing;
    scope.library = version.lambda->library;
    scope.function = "lambda";
    if (scope.library) {
      scope.function = enclosing;
    } else if (!enclosing.empty()) {
      scope.function += " in " + enclosing;
    }
    scope.source = version.lambda->source;
  } else {
    scope.function = version.definition->name;
    scope.library = version.definition->library;
    scope.source = version.definition->body->source;
  }
  return static_cast<std::uint32_t>(module_.scopes.size() - 1);
}

std::uint32_t Compiler::add_scope(const Version& version, const ir::Origin& call) {
  const std::uint32_t index = add_scope(version);
  module_.scopes[index].call = call.span;
  module_.scopes[index].caller = call.scope;
  return index;
}

std::uint32_t Compiler::add_scope(const Definition& variable, const ir::Origin& use) {
  module_.scopes.push_back(
      {variable.name, variable.library, variable.body->source, use.span, use.scope});
  return static_cast<std::uint32_t>(module_.scopes.size() - 1);
}

}  // namespace neslc
