#include "neslc/front/session.hpp"

#include <algorithm>
#include <utility>

#include "neslc/front/form_checker.hpp"
#include "neslc/front/library_text.hpp"
#include "neslc/front/parser.hpp"

namespace neslc {

const Definition* serial_function(TypePtr function_type) {
  if (function_type->kind != TypeKind::Function) return nullptr;
  const TypePtr identity = function_type->identity();
  switch (identity->kind) {
    case TypeKind::FunctionIdentity:
      return identity->function->serial_only ? identity->function : nullptr;
    case TypeKind::LambdaIdentity:
      return identity->lambda->serial;
    case TypeKind::PartialIdentity:
      return serial_function(identity->arguments[0]);
    default:
      return nullptr;
  }
}

namespace {

/// What a form of the library defines: `function NAME(`, `function "NAME"(`, `datatype NAME(`,
/// `NAME =`.
std::string_view defined_name(std::string_view form) {
  for (const std::string_view keyword : {"function ", "datatype "}) {
    if (form.starts_with(keyword)) form.remove_prefix(keyword.size());
  }
  if (form.starts_with('"')) return form.substr(1, form.find('"', 1) - 1);
  return form.substr(0, form.find_first_of("( "));
}

}  // namespace

Session::Session() : Session(library_text()) {}

Session::Session(std::string_view library, std::string_view open_library) {
  find_forms(library, false);
  find_forms(open_library, true);
}

void Session::find_forms(std::string_view library, bool open) {
  const auto begins_form = [&](std::size_t at) {
    return (at == 0 || library[at - 1] == '\n') && library[at] >= 'a' && library[at] <= 'z';
  };
  std::size_t begin = 0;
  while (begin < library.size() && !begins_form(begin)) ++begin;
  while (begin < library.size()) {
    std::size_t end = begin + 1;
    do {
      end = std::min(library.find('\n', end), library.size() - 1) + 1;
    } while (end < library.size() && !begins_form(end));
    const std::string_view form = library.substr(begin, end - begin);
    LibraryForms& forms = unread_[std::string(defined_name(form))];
    forms.texts.emplace_back(form);
    forms.open = open;
    begin = end;
  }
}

Session::~Session() = default;

void Session::read_library(std::string_view name) {
  const auto found = unread_.find(name);
  if (found == unread_.end()) return;
  const LibraryForms forms = std::move(found->second);
  unread_.erase(found);
  // Reading one form may lead here again, for the names in it.
  const bool outer = std::exchange(loading_library_, true);
  const bool outer_open = std::exchange(loading_open_, forms.open);
  for (const std::string& text : forms.texts) {
    const auto source = std::make_shared<const vcode::Source>("library", text);
    for (ParsedForm& parsed : parse_program(source, {.library = true}).forms) {
      Checked checked;
      if (parsed.form) {
        checked = check(parsed.form);
      } else {
        checked.error = std::move(parsed.error);
      }
      if (checked) {
        commit(std::move(*checked.form));
      } else {
        library_errors_.push_back(std::move(*checked.error));
      }
    }
  }
  loading_library_ = outer;
  loading_open_ = outer_open;
}

void Session::read_library() {
  while (!unread_.empty()) read_library(std::string(unread_.begin()->first));
}

const std::vector<StaticError>& Session::library_errors() {
  read_library();
  return library_errors_;
}

Checked Session::check(std::shared_ptr<const ast::Form> form) {
  Checked checked = FormChecker(*this, form).check();
  if (loading_library_) return checked;
  if (!checked) {
    missing_.reject(*form);
  } else if (const std::shared_ptr<const Body> body = checked.form->written_body()) {
    missing_.keep_inside(*body);
  }
  return checked;
}

void Session::commit(CheckedForm form) {
  for (CheckedForm::Change& change : form.changes) {
    Definition& slot = *change.slot;
    const std::uint32_t number = slot.number;
    const std::uint32_t version = slot.version;
    slot = std::move(change.contents);
    slot.number = number;
    slot.version = version + (change.replaces ? 1 : 0);
    if (!slot.name.empty()) names_[slot.name] = &slot;
    missing_.forget(slot.name);
    if (slot.open) library_names_[slot.name] = &slot;
  }
  if (form.datatype == nullptr) return;
  datatype_names_[form.datatype->name] = form.datatype;
  if (loading_open_) library_datatype_names_[form.datatype->name] = form.datatype;
}

Definition* Session::new_slot(std::string_view name) {
  slots_.push_back(std::make_unique<Definition>());
  slots_.back()->name = name;
  slots_.back()->number = static_cast<std::uint32_t>(slots_.size() - 1);
  return slots_.back().get();
}

void Session::keep(std::shared_ptr<const Body> body) {
  if (!body->lambdas.empty()) kept_.push_back(std::move(body));
}

namespace {

/// Which components of an argument are streams, as text.
std::string places_of_streams(TypePtr argument) {
  argument = resolved(argument);
  if (argument->kind == TypeKind::Stream) return "s";
  if (argument->kind != TypeKind::Pair) return "_";
  return "(" + places_of_streams(argument->first()) + places_of_streams(argument->second()) + ")";
}

}  // namespace

const Session::ForStreams& Session::for_streams(const Definition& function, TypePtr argument) {
  const auto [entry, added] = for_streams_.try_emplace(
      {&function, function.version, places_of_streams(argument)}, ForStreams{});
  if (added) entry->second = checked_for_streams(function, argument);
  return entry->second;
}

Session::ForStreams Session::checked_for_streams(const Definition& function, TypePtr argument) {
  const Body* const outer = std::exchange(checked_before_, function.body.get());
  const bool outer_library = std::exchange(loading_library_, false);
  Checked checked = FormChecker(*this, function.form).check_for_streams(argument);
  checked_before_ = outer;
  loading_library_ = outer_library;
  if (!checked) return {nullptr, std::move(checked.error)};
  CheckedForm::Change& change = checked.form->changes.front();
  const std::uint32_t number = change.slot->number;
  *change.slot = std::move(change.contents);
  change.slot->number = number;
  return {change.slot};
}

Definition* Session::find(std::string_view name) {
  if (checked_before_ != nullptr && !loading_library_) {
    for (const Body::Reference& reference : checked_before_->references) {
      if (reference.definition->name == name) return reference.definition;
    }
  }
  read_library(name);
  if (loading_library_) {
    const auto own = library_names_.find(name);
    if (own != library_names_.end()) return own->second;
  }
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

const Datatype* Session::find_datatype(std::string_view name) {
  read_library(name);
  if (loading_library_) {
    const auto own = library_datatype_names_.find(name);
    if (own != library_datatype_names_.end()) return own->second;
  }
  const auto found = datatype_names_.find(name);
  return found == datatype_names_.end() ? nullptr : found->second;
}

std::vector<std::string> Session::datatype_names() {
  read_library();
  std::vector<std::string> names;
  for (const auto& [name, datatype] : datatype_names_) names.push_back(name);
  return names;
}

std::vector<const Definition*> Session::definitions() {
  read_library();
  std::vector<const Definition*> result;
  for (const auto& [name, definition] : names_) {
    if (name.find('.') == std::string::npos) result.push_back(definition);
  }
  return result;
}

}  // namespace neslc
