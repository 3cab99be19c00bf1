// How deep the expressions of a program lie in apply-to-eaches.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "neslc/front/session.hpp"

namespace neslc::graph {

class Nesting {
 public:
  /// Knows the expression of a form, and the functions of the program that it may call.
  explicit Nesting(const Body& body);

  /// The number of apply-to-eaches of the function (empty: the form) around the expression with
  /// that place; 0 if it is not known.
  std::size_t level(const std::string& function, vcode::Span span) const;

 private:
  void add(const std::string& function, const Body& body);
  void add(const std::string& function, const Expr& expr, std::size_t level);

  using Key = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> levels_;
  std::set<const Body*> known_;
};

}  // namespace neslc::graph
