// Any text is read as forms, each with a tree or an error, and the errors can be shown.
#include "neslc/front/parser.hpp"
#include "support.hpp"

using namespace neslc;
using vcode::fuzzing::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = vcode::fuzzing::make_source(data, size);
  for (const ParseOptions options :
       {ParseOptions{}, ParseOptions{.library = true}, ParseOptions{.interactive = true}}) {
    std::size_t end = 0;
    for (const ParsedForm& form : parse_program(source, options).forms) {
      check((form.form != nullptr) != form.error.has_value(), "a form or an error");
      check(form.begin >= end && form.end >= form.begin && form.end <= size, "forms are in order");
      end = form.end;
      if (form.form) check(form.form->text().size() <= size, "the text of a form is a part");
      if (!form.error) continue;
      check(form.error->source == source && form.error->diagnostic.span, "an error has its place");
      vcode::render(form.error->diagnostic, source.get(), {});
      transcript_line(*form.error);
    }
  }
  return 0;
}
