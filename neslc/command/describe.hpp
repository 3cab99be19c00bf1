// What the top level says about the definitions of a session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neslc/front/session.hpp"

namespace neslc {

/// Interface, type, documentation and code of a name.
std::string describe(const Definition& definition);
/// What stands behind `Example:` in the documentation, `EXPRESSION => VALUE`; empty without one.
std::string example(const Definition& definition);
/// The definition as written.
std::string code_text(const Definition& definition);
/// `NAME : TYPE` of everything whose name or documentation contains the word.
std::string apropos(Session& session, std::string_view word);
/// The visible name that was probably meant; empty if none is near.
std::string nearest_name(Session& session, std::string_view name);

}  // namespace neslc
