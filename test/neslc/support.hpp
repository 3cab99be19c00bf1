// What the tests of the front half share.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neslc/front/parser.hpp"
#include "neslc/front/session.hpp"

namespace neslc::testing {

std::shared_ptr<const vcode::Source> make_source(std::string text);
std::string read_file(const std::filesystem::path& path);
std::vector<std::string> lines_of(const std::string& text);

/// The forms of a text, run through a session one after another as a program would be, but nothing
/// is evaluated: every binding is taken to succeed.
struct Run {
  explicit Run(const std::string& text);
  void add(const std::string& text);

  Session session;
  /// One line for each form: its static error, or `name : type` of what it binds (`it` for an
  /// expression), joined by "; " when there are several.
  std::vector<std::string> lines;
  std::vector<StaticError> errors;
  std::vector<CheckedForm> forms;  // as they were before the commit, without the changes' contents
};

/// The only line of a text of one form, after `before`.
std::string line(const std::string& text, const std::string& before = "");
/// The only error of a text as people see it.
std::string message(const std::string& text, const std::string& before = "");

/// A type of a `.types` line with its variables renamed and its context in a normal form, unused
/// variables left out.
std::string normal_type(const std::string& text);

}  // namespace neslc::testing
