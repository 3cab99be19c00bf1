#include "neslc/session.hpp"

#include "neslc/form_checker.hpp"
#include "neslc/library_text.hpp"
#include "neslc/parser.hpp"

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

Session::Session() : Session(library_text()) {}

Session::Session(std::string_view library) {
  load_library(library);
}

Session::~Session() = default;

void Session::load_library(std::string_view text) {
  loading_library_ = true;
  const auto source = std::make_shared<const vcode::Source>("library", std::string(text));
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
  loading_library_ = false;
}

Checked Session::check(std::shared_ptr<const ast::Form> form) {
  return FormChecker(*this, std::move(form)).check();
}

void Session::commit(CheckedForm form) {
  for (CheckedForm::Change& change : form.changes) {
    Definition& slot = *change.slot;
    const std::uint32_t number = slot.number;
    const std::uint32_t version = slot.version;
    slot = std::move(change.contents);
    slot.number = number;
    slot.version = version + (change.replaces ? 1 : 0);
    names_[slot.name] = &slot;
  }
  if (form.datatype != nullptr) datatype_names_[form.datatype->name] = form.datatype;
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

Definition* Session::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

const Datatype* Session::find_datatype(std::string_view name) const {
  const auto found = datatype_names_.find(name);
  return found == datatype_names_.end() ? nullptr : found->second;
}

std::vector<std::string> Session::datatype_names() const {
  std::vector<std::string> names;
  for (const auto& [name, datatype] : datatype_names_) names.push_back(name);
  return names;
}

std::vector<const Definition*> Session::definitions() const {
  std::vector<const Definition*> result;
  for (const auto& [name, definition] : names_) {
    if (name.find('.') == std::string::npos) result.push_back(definition);
  }
  return result;
}

}  // namespace neslc
