#include "neslc/front/warnings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "neslc/front/random_warnings.hpp"
#include "neslc/front/sieve_warnings.hpp"

namespace neslc {

std::vector<vcode::Diagnostic> warnings_of(const CheckedForm& form) {
  const std::shared_ptr<const Body> body = form.written_body();
  if (!body) return {};
  std::vector<vcode::Diagnostic> found = random_warnings(*body);
  if (form.kind == CheckedForm::Kind::Function) {
    std::ranges::move(sieve_warnings(*body, *form.changes.front().slot), std::back_inserter(found));
  }
  std::ranges::sort(found, {}, [](const vcode::Diagnostic& warning) {
    return std::pair(warning.span.line, warning.span.column);
  });
  return found;
}

}  // namespace neslc
