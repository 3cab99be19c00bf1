// Records with named fields: access by name, and construction.
#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/expression_checker.hpp"
#include "neslc/front/type_words.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

using Clash = Inference::Clash;
using Typed = ExpressionChecker::Typed;

namespace {

std::size_t position_of(const Datatype& datatype, const std::string& name) {
  return static_cast<std::size_t>(std::find(datatype.names.begin(), datatype.names.end(), name) -
                                  datatype.names.begin());
}

bool has_field(const Datatype& datatype, const std::string& name) {
  return position_of(datatype, name) < datatype.names.size();
}

std::string list_of(std::vector<std::string> names) {
  for (std::string& name : names) name = "`" + name + "`";
  return joined(names);
}

}  // namespace

// ---- Access

/// Which datatype the record is of: its type says so, or else the only datatype that has such a
/// field.
const Datatype& ExpressionChecker::datatype_of_field(const Expr& record, const ast::Field& field) {
  const TypePtr type = resolved(record.type);
  if (type->kind == TypeKind::Record) {
    const Datatype& datatype = *type->datatype;
    if (datatype.names.empty()) {
      fail(Category::Type, {}, field.name_span,
           fmt::format("the fields of `{}` have no names", datatype.name),
           operand_notes(record, field.name_span),
           fmt::format("a pattern takes it apart: `let {}(a, b) = p in ...`", datatype.name));
    }
    if (!has_field(datatype, field.name)) {
      vcode::NearestWord nearest(field.name);
      for (const std::string& name : datatype.names) nearest.consider(name);
      fail(Category::Undefined, field.name, field.name_span,
           fmt::format("`{}` has no field `{}`", datatype.name, field.name),
           {{fmt::format("its fields are {}", list_of(datatype.names)), {}}},
           nearest.best().empty() ? "" : fmt::format("did you mean `{}`?", nearest.best()));
    }
    return datatype;
  }
  if (type->kind != TypeKind::Variable) {
    const bool of_records =
        type->kind == TypeKind::Sequence && resolved(type->element())->kind == TypeKind::Record;
    const Definition* const function = session_.find(field.name);
    const bool is_function =
        function != nullptr && function->kind != DefinitionKind::Variable && !of_records;
    std::string hint;
    if (of_records) {
      hint = fmt::format("`{{p.{} : p in s}}` is the field of each element of `s`", field.name);
    } else if (is_function) {
      hint = fmt::format("a function stands before its argument: `{}({})`", field.name,
                         operand(record).text);
    }
    fail_clash(Clash::Different, record.span,
               fmt::format("only a record has fields, not {}", in_words(type)), {},
               operand_notes(record, record.span), std::move(hint));
  }
  std::vector<std::string> found;
  for (const auto& [name, datatype] : session_.datatype_names_) {  // the library's have none
    if (has_field(*datatype, field.name)) found.push_back(name);
  }
  if (found.empty()) {
    fail(Category::Undefined, field.name, field.name_span,
         fmt::format("no datatype has a field `{}`", field.name), {},
         "a datatype names its fields: `datatype point(x: float, y: float)`");
  }
  if (found.size() > 1) {
    fail(Category::Type, {}, record.span,
         fmt::format("the type of {} is not known here", quoted(record.span)),
         {{fmt::format("{} have a field `{}`", list_of(found), field.name), {}}},
         fmt::format("declare it: `function g(p) : {} -> ...`", found.front()));
  }
  return *session_.find_datatype(found.front());
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Field& node) {
  Typed record = expression(*node.record);
  const Datatype& datatype = datatype_of_field(*record, node);
  std::vector<TypePtr> arguments;
  for (const TypeClass type_class : datatype.parameters) {
    arguments.push_back(inference_.fresh(type_class));
  }
  const TypePtr fields = inference_.instantiate(datatype.fields, arguments);
  const TypePtr type = inference_.record(&datatype, std::move(arguments));
  const Clash clash = inference_.unify(record->type, type);
  if (clash != Clash::None) {
    fail_clash(clash, record->span, fmt::format("this is no `{}`", datatype.name),
               {evidence(*record)});
  }

  // let DATATYPE(_, _, x, _) = record in x
  const auto variable = [&](TypePtr of_type) {
    auto pattern = std::make_unique<Pattern>();
    pattern->local = new_local(node.name, node.name_span);
    pattern->type = of_type;
    inference_.unify(pattern->local->type, of_type);
    return pattern;
  };
  const auto finished = [&](TypedPattern pattern) {
    pattern->span = default_span_ ? default_span_ : node.name_span;
    open_types_.push_back(&pattern->type);
    return pattern;
  };
  const std::size_t position = position_of(datatype, node.name);
  std::vector<TypePtr> rests = {fields};  // from field i on
  while (rests.size() < datatype.names.size()) rests.push_back(resolved(rests.back())->second());
  const bool last = position + 1 == datatype.names.size();
  TypedPattern pattern = finished(variable(last ? rests[position] : rests[position]->first()));
  const Local* const local = pattern->local;
  const auto pair_of = [&](TypedPattern first, TypedPattern second, TypePtr of_type) {
    auto pair = std::make_unique<Pattern>();
    pair->kind = Pattern::Kind::Pair;
    pair->type = of_type;
    pair->first = std::move(first);
    pair->second = std::move(second);
    return finished(std::move(pair));
  };
  if (!last) {
    pattern =
        pair_of(std::move(pattern), finished(variable(rests[position]->second())), rests[position]);
  }
  for (std::size_t i = position; i-- > 0;) {
    pattern = pair_of(finished(variable(rests[i]->first())), std::move(pattern), rests[i]);
  }
  auto whole = std::make_unique<Pattern>();
  whole->kind = Pattern::Kind::Record;
  whole->type = type;
  whole->first = std::move(pattern);
  Let let;
  let.field = true;
  let.bindings.push_back({finished(std::move(whole)), std::move(record)});
  let.body = make(node.name_span, local->type, LocalRef{local});
  return make(at.span, local->type, std::move(let));
}

// ---- Construction

/// The datatype with named fields that a call of this constructs, or null.
const Datatype* ExpressionChecker::constructed_by(const ast::Expr& callee) const {
  const auto* name = std::get_if<ast::Name>(&callee.node);
  if (name == nullptr || find_visible(name->name) != nullptr) return nullptr;
  if (self_ != nullptr && self_->name == name->name) return nullptr;
  const Definition* definition = session_.find(name->name);
  const bool named = definition != nullptr && definition->kind == DefinitionKind::Constructor &&
                     !definition->datatype->names.empty();
  return named ? definition->datatype : nullptr;
}

/// The tuple of fields of point(1.0, y := 2.0): first those without a name, in order.
Typed ExpressionChecker::fields_argument(const ast::Call& call, const Datatype& datatype,
                                         const std::vector<const ast::Expr*>& items,
                                         std::size_t positional) {
  std::vector<const ast::Expr*> values(datatype.names.size(), nullptr);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto* keyword = std::get_if<ast::KeywordArgument>(&items[i]->node);
    if (keyword == nullptr && i >= positional) {
      fail(Category::Argument, {}, items[i]->span,
           "fields without a name stand before those with one");
    }
    const std::size_t position = keyword == nullptr ? i : position_of(datatype, keyword->name);
    if (position >= values.size()) {
      fail(Category::Argument, {}, items[i]->span,
           keyword == nullptr ? fmt::format("`{}` has only {} fields", datatype.name, values.size())
                              : fmt::format("`{}` has no field `{}`", datatype.name, keyword->name),
           {{fmt::format("its fields are {}", list_of(datatype.names)), {}}});
    }
    if (values[position] != nullptr) {
      fail(Category::Argument, {}, items[i]->span,
           fmt::format("the field `{}` is given twice", datatype.names[position]));
    }
    values[position] = keyword == nullptr ? items[i] : keyword->value.get();
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == nullptr) missing.push_back(datatype.names[i]);
  }
  if (!missing.empty()) {
    fail(Category::Argument, {}, call.argument->span,
         fmt::format("`{}` needs a value for {}", datatype.name, list_of(missing)));
  }
  std::vector<Typed> typed;
  for (const ast::Expr* value : values) typed.push_back(expression(*value));
  Typed result = std::move(typed.back());
  for (std::size_t i = typed.size() - 1; i-- > 0;) {
    result = pair(call.argument->span, std::move(typed[i]), std::move(result));
  }
  return result;
}

}  // namespace neslc
