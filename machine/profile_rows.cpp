#include "machine/profile_rows.hpp"

#include <string_view>

#include <fmt/core.h>

#include "machine/json.hpp"
#include "machine/report_text.hpp"

namespace vinterp {
std::string profile_csv(const Profile& profile, const vcode::LinkedProgram& program) {
  std::string text = "operation,function,line,calls,elements,bytes,seconds\n";
  for (const Profile::Row& row : profile.rows()) {
    text += fmt::format("{},{},{},{},{},{},{:.9f}\n",
                        operation_name(program.code[row.instruction], program),
                        program.functions[row.function].name, row.line, row.cost.calls,
                        row.cost.elements, row.cost.bytes, row.cost.seconds);
  }
  return text;
}

std::string profile_json(const Profile& profile, const vcode::LinkedProgram& program) {
  std::string text = "[";
  std::string_view separator = "\n";
  for (const Profile::Row& row : profile.rows()) {
    text += fmt::format(
        "{}{{\"operation\": {}, \"function\": {}, \"line\": {}, \"calls\": {}, \"elements\": {}, "
        "\"bytes\": {}, \"seconds\": {:.9f}}}",
        separator, json_string(operation_name(program.code[row.instruction], program)),
        json_string(program.functions[row.function].name), row.line, row.cost.calls,
        row.cost.elements, row.cost.bytes, row.cost.seconds);
    separator = ",\n";
  }
  return text + "\n]\n";
}

}  // namespace vinterp
