// Completion of what is typed at the prompt.
#pragma once

#include <string_view>

#include "neslc/line_reader.hpp"
#include "neslc/session.hpp"

namespace neslc {

/// What may stand for the last word of `line`: names in scope and reserved words; at the beginning
/// commands too; behind `set` and `show` what these take; in quotes the names of files.
Completion complete(Session& session, std::string_view line);

}  // namespace neslc
