// The text of values, in exactly the format of the classic interpreter.
//
// ( 1 -2 3 )   ( T F )   ( 1.50000000000000e+00 inf nan )   [ 2 0 3 ]   pair(Int,Float)_
// (the last one ends in a blank). There is no line breaking, and NaN has no sign.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cvl/backend.hpp"

namespace vinterp {

/// Receives text piece by piece; false means that no more is wanted.
using TextSink = std::function<bool(std::string_view)>;

/// The digits of floats: 15 always, or more where 15 would be read back as another number.
enum class Digits : std::uint8_t { Classic, Exact };

/// Sends the line of a value, newline included, to the sink. Elements are fetched and formatted in
/// bounded pieces, whatever the length. Returns false when the sink refused text.
/// Throws Failure as Backend::download does.
bool write_value(cvl::Backend& backend, const cvl::Value& value, const TextSink& sink,
                 Digits digits = Digits::Classic);

/// Sends one byte per element of an INT vector, the low 8 bits. REQUIRES: type INT.
bool write_characters(cvl::Backend& backend, const cvl::Vector& codes, const TextSink& sink);

/// The text of a value for traces, without newline. Of vectors and descriptors longer than `limit`
/// only the first `limit` elements are shown: "( 1 2 3 ... 1000000 elements )".
std::string shortened(cvl::Backend& backend, const cvl::Value& value, std::int64_t limit);

/// "Int", "Bool", "Float", "Segdes", "Pair": types as values and debug output show them.
std::string_view display_name(vcode::Type type);

}  // namespace vinterp
