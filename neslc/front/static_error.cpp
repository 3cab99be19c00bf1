#include "neslc/front/static_error.hpp"

#include <fmt/format.h>

namespace neslc {
namespace {

std::string_view category_name(Category category) {
  switch (category) {
    case Category::Syntax:
      return "syntax";
    case Category::Type:
      return "type";
    case Category::Undefined:
      return "undefined";
    case Category::Repeated:
      return "repeated";
    case Category::Reserved:
      return "reserved";
    case Category::Builtin:
      return "builtin";
    case Category::NoBody:
      return "no-body";
    case Category::UnknownType:
      return "unknown-type";
    case Category::SerialOnly:
      return "serial-only";
    case Category::Pattern:
      return "pattern";
    case Category::Argument:
      return "argument";
    case Category::Stream:
      return "stream";
  }
  return "";
}

}  // namespace

vcode::ErrorCode error_code(Category category) {
  switch (category) {
    case Category::Syntax:
      return vcode::ErrorCode::NeslSyntax;
    case Category::Type:
      return vcode::ErrorCode::NeslType;
    case Category::Undefined:
      return vcode::ErrorCode::NeslUndefined;
    case Category::Repeated:
      return vcode::ErrorCode::NeslRepeated;
    case Category::Reserved:
      return vcode::ErrorCode::NeslReserved;
    case Category::Builtin:
      return vcode::ErrorCode::NeslBuiltin;
    case Category::NoBody:
      return vcode::ErrorCode::NeslNoBody;
    case Category::UnknownType:
      return vcode::ErrorCode::NeslUnknownType;
    case Category::SerialOnly:
      return vcode::ErrorCode::NeslSerialOnly;
    case Category::Pattern:
      return vcode::ErrorCode::NeslPattern;
    case Category::Argument:
      return vcode::ErrorCode::NeslArgument;
    case Category::Stream:
      return vcode::ErrorCode::NeslStream;
  }
  return vcode::ErrorCode::Internal;
}

std::string transcript_line(const StaticError& error) {
  return fmt::format("STATIC ERROR{}{}: {}{}{}", error.where.empty() ? "" : " in ", error.where,
                     category_name(error.category), error.name.empty() ? "" : " ", error.name);
}

}  // namespace neslc
