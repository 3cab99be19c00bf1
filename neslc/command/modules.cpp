#include "neslc/command/modules.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "neslc/command/commands.hpp"

namespace neslc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".nesl";

/// One name for each file, however its path is written.
std::string place_of(const std::string& file) {
  std::error_code error;
  const fs::path place = fs::weakly_canonical(file, error);
  return error ? file : place.string();
}

}  // namespace

std::string folder_of(const std::string& source) {
  std::error_code error;
  return fs::is_regular_file(source, error) ? fs::path(source).parent_path().string() : "";
}

std::string module_file(const std::string& folder, const std::string& name) {
  std::error_code error;
  fs::path file = fs::path(folder) / name;
  if (!name.ends_with(kEnding) && !fs::is_regular_file(file, error)) file += kEnding;
  return file.string();
}

bool is_import(const ast::Form& form) {
  const auto* const command = std::get_if<ast::CommandForm>(&form.node);
  return command != nullptr && command->name == "import";
}

std::shared_ptr<const ast::Form> call_of_import(const ast::Form& form) {
  const auto& command = std::get<ast::CommandForm>(form.node);
  const auto part = [&](auto node, vcode::Span span) {
    auto expression = std::make_unique<ast::Expr>();
    expression->span = span;
    expression->node = std::move(node);
    return expression;
  };
  auto call =
      part(ast::Call{part(ast::Name{command.name}, form.span),
                     part(ast::StringLiteral{command.words[0].text}, command.words[0].span)},
           form.span);
  call->depth = 2;
  auto result = std::make_shared<ast::Form>();
  result->source = form.source;
  result->span = form.span;
  result->begin = form.begin;
  result->end = form.end;
  result->node = ast::ExpressionForm{std::move(call)};
  return result;
}

Modules::Reading::Reading(Modules& modules, const std::string& file) : modules_(modules) {
  modules_.reading_.push_back(place_of(file));
}

bool Modules::has(const std::string& file) const {
  return read_.contains(place_of(file));
}

void Modules::add(const std::string& file) {
  read_.insert(place_of(file));
}

void Modules::refuse_cycle(const std::string& file) const {
  const auto first = std::find(reading_.begin(), reading_.end(), place_of(file));
  if (first == reading_.end()) return;
  std::string cycle;
  for (auto at = first; at != reading_.end(); ++at) {
    cycle += fs::path(*at).filename().string() + " imports ";
  }
  throw CommandError{fmt::format("a module cannot import itself: {}{}", cycle,
                                 fs::path(*first).filename().string()),
                     "what they both need belongs into a module of its own"};
}

}  // namespace neslc
