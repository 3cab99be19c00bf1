#include "neslc/compiler.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "neslc/flattener.hpp"

namespace neslc {
namespace {

// A body of at most so many nodes, with all that is put in its place in turn, replaces its calls.
constexpr int kInlineSize = 80;
constexpr int kTooLarge = 1'000'000;

/// A name that VCODE accepts: operators and internal names become words.
std::string vcode_name(const std::string& name) {
  std::string result;
  for (const char c : name) {
    result += std::isalnum(static_cast<unsigned char>(c)) != 0
                  ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                  : '_';
  }
  return result;
}

}  // namespace

Compiler::Compiler(Session& session, TopLevelValues& values, CompileOptions options)
    : session_(session), values_(values), options_(options), pool_(module_) {}

ir::Module Compiler::compile(const Body& body) {
  module_.sources.push_back(body.source);
  module_.scopes.emplace_back();
  ir::Function& main = module_.functions.emplace_back();
  main.name = "MAIN";
  Flattener(*this, main).flatten_expression(body);
  while (!worklist_.empty()) {
    const auto [version, function] = worklist_.back();
    worklist_.pop_back();
    Flattener(*this, *function).flatten_version(version);
  }
  for (ir::Function& function : module_.functions) ir::remove_dead_code(function);
  return std::move(module_);
}

const ObservedFunction* Compiler::observed(const Definition* definition) const {
  if (options_.observed == nullptr) return nullptr;
  const auto found = options_.observed->find(definition);
  return found == options_.observed->end() ? nullptr : &found->second;
}

const ir::Function& Compiler::function(const Version& version) {
  const auto [at, inserted] = functions_.try_emplace(version, nullptr);
  if (inserted) {
    ir::Function& function = module_.functions.emplace_back();
    const std::string name = version.definition != nullptr ? version.definition->name : "lambda";
    function.name = vcode_name(name) + "_" + std::to_string(next_number_++);
    at->second = &function;
    worklist_.emplace_back(version, &function);
  }
  return *at->second;
}

bool Compiler::inline_call(const Version& version) {
  if (version.lambda != nullptr) return size_of(*version.lambda->body) <= kInlineSize;
  return expanded_size(*version.definition) <= kInlineSize;
}

bool Compiler::calls_itself(const Definition& definition) {
  if (const auto found = recursive_.find(&definition); found != recursive_.end()) {
    return found->second;
  }
  std::set<const Definition*> seen;
  std::vector<const Definition*> pending{&definition};
  bool result = false;
  while (!pending.empty() && !result) {
    const Definition* next = pending.back();
    pending.pop_back();
    if (!next->body) continue;
    for (const Body::Reference& reference : next->body->references) {
      if (reference.definition == &definition) result = true;
      if (seen.insert(reference.definition).second) pending.push_back(reference.definition);
    }
  }
  return recursive_[&definition] = result;
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

std::uint32_t Compiler::source_index(const std::shared_ptr<const vcode::Source>& source) {
  const auto found = std::find(module_.sources.begin(), module_.sources.end(), source);
  if (found != module_.sources.end()) {
    return static_cast<std::uint32_t>(found - module_.sources.begin());
  }
  module_.sources.push_back(source);
  return static_cast<std::uint32_t>(module_.sources.size() - 1);
}

std::uint32_t Compiler::add_scope(const Version& version) {
  ir::Scope& scope = module_.scopes.emplace_back();
  if (version.lambda != nullptr) {
    scope.function = "lambda";
    if (!version.lambda->enclosing.empty()) scope.function += " in " + version.lambda->enclosing;
    scope.library = version.lambda->library;
    scope.source = source_index(version.lambda->source);
  } else {
    scope.function = version.definition->name;
    scope.library = version.definition->library;
    scope.source = source_index(version.definition->body->source);
  }
  return static_cast<std::uint32_t>(module_.scopes.size() - 1);
}

std::uint32_t Compiler::add_scope(const Version& version, const ir::Place& call) {
  const std::uint32_t index = add_scope(version);
  module_.scopes[index].call = call.span;
  module_.scopes[index].caller = call.scope;
  return index;
}

std::uint32_t Compiler::add_scope(const Definition& variable, const ir::Place& use) {
  module_.scopes.push_back(
      {variable.name, variable.library, source_index(variable.body->source), use.span, use.scope});
  return static_cast<std::uint32_t>(module_.scopes.size() - 1);
}

}  // namespace neslc
