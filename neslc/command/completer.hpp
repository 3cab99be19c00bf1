// Completion of what is typed at the prompt.
#pragma once

#include <span>
#include <string_view>

#include "neslc/command/line_reader.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

/// What may stand for the last word of `line`: names in scope and reserved words; at the beginning
/// commands too; behind `set` and `show` what these take; in quotes the names of files.
Completion complete(Session& session, std::string_view line);

/// The words of the language that are worth completing.
std::span<const std::string_view> reserved_words();

}  // namespace neslc
