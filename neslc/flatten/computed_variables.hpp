// Top-level variables of a program that computes their values itself, as a compiled one does: once,
// in its entry. Functions that use them, or call others that do, get them as further parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/module.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

class ComputedVariables {
 public:
  /// The number of the first component of a variable's value, among those that a program is given
  /// (ir::Statement::Kind::Given) until hand_down(). Numbers that the run gives are smaller.
  std::int64_t first_component(TypeTable& types, const Definition& variable);

  /// What the entry's results are from here on, behind its own ones: components, in order.
  void add_values(std::int64_t first, std::size_t count);

  /// When all functions are there: the values in the place of what is given. `components` says of
  /// each constant of the module for which one it stands.
  void hand_down(ir::Module& module, std::vector<std::int64_t>& components) const;

 private:
  static constexpr std::int64_t kFirst = std::int64_t{1} << 40;

  using Uses = std::vector<std::vector<bool>>;  // of each function: each component?

  static bool is_computed(const ir::Statement& statement,
                          const std::vector<std::int64_t>& components);
  static std::size_t component_of(const ir::Statement& statement,
                                  const std::vector<std::int64_t>& components);
  Uses find_uses(const ir::Module& module, const std::vector<std::int64_t>& components) const;
  void hand_to_loop(ir::Module& module, std::uint32_t number, const Uses& uses) const;
  void put_in_place(ir::Function& function, const std::vector<ir::ValueId>& values,
                    const Uses& uses, const std::vector<std::int64_t>& components) const;

  std::unordered_map<const Definition*, std::int64_t> first_;
  std::vector<vcode::Type> types_;  // of all components
  /// Of each: which parameter of a loop it can be, its descriptor being a component.
  std::vector<std::optional<ir::SerialFunction::Parameter>> parameters_;
  std::vector<std::size_t> values_;  // components, in the order of the entry's results
};

/// Does the program compute the variable's value once? Those of the library, literals and streams
/// stand where they are used.
bool is_computed_once(const Definition& variable);

/// The variables that are computed once and that the body needs, also through functions, each
/// behind those that it needs itself; where that leaves a choice, in the order of their
/// definitions.
std::vector<const Definition*> variables_needed(const Body& body);

}  // namespace neslc
