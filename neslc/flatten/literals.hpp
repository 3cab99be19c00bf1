// Expressions whose value is known when the program is compiled.
#pragma once

#include <string>

#include "neslc/flatten/value.hpp"
#include "neslc/front/typed.hpp"

namespace neslc {

/// Made of literals, pairs, constructors and sequences of such only?
bool is_literal(const Expr& expr);

/// Its value as constants. `type`: that of the expression, without generics.
/// REQUIRES: is_literal.
Value literal_value(ir::Builder& builder, TypeTable& types, const Expr& expr, TypePtr type,
                    Context* context);

Value string_value(ir::Builder& builder, const std::string& text, Context* context);

Value empty_sequence(ir::Builder& builder, TypeTable& types, TypePtr type, Context* context);

}  // namespace neslc
