// Numbers that a test expects, kept as a table in a file beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fcode::testing {

struct TableRow {
  std::string name;
  std::vector<std::int64_t> numbers;
};

/// Checks that the file test/fcode-opt/NAME holds these rows under a line with the titles of the
/// columns. With the environment variable NESL_UPDATE it is written anew instead.
void check_table(const std::string& name, const std::vector<std::string>& titles,
                 const std::vector<TableRow>& rows);

/// The examples in VCODE, in alphabetical order.
std::vector<std::string> example_names();

}  // namespace fcode::testing
