#include "vcode/printer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "vcode/diagnostics.hpp"
#include "vcode/kernel_printer.hpp"
#include "vcode/keywords.hpp"

namespace vcode {
namespace {

constexpr std::size_t kColumns = 100;
// Deeper conditionals are not indented further: the length of the text stays linear.
constexpr std::size_t kDeepestIndent = 40;
constexpr std::size_t kTracedElements = 8;
constexpr std::size_t kCommentColumn = 40;

std::string print_integer(std::int64_t value) {
  return std::to_string(value);
}
std::string print_truth(std::uint8_t value) {
  return value ? "T" : "F";
}

void append_type(std::string& text, std::string_view type) {
  text += ' ';
  text += type;
}

class Writer {
 public:
  /// Of a constant at most `limit` elements are written. Without a limit long vectors are broken
  /// into lines, with one everything stays on one line.
  explicit Writer(std::string& text, std::size_t limit = kNoLimit) : text_(text), limit_(limit) {}

  void begin_line(std::size_t indent) {
    line_begin_ = text_.size();
    text_.append(indent, ' ');
    indent_ = indent;
  }
  void comment(const std::string& comment) {
    const std::size_t column = text_.size() - line_begin_;
    text_.append(column < kCommentColumn ? kCommentColumn - column : 1, ' ');
    text_ += "{ " + comment + " }";
  }
  void end_line() { text_ += '\n'; }
  std::string& text() { return text_; }

  void constant(const Constant& constant) {
    const bool string = constant.form == ConstantForm::String;
    append_type(text_, type_name(string ? Type::Char : constant.type));
    text_ += ' ';
    if (string) {
      characters(constant.ints());
    } else if (constant.form == ConstantForm::Stream) {
      text_ += stream_name(constant.ints().front());
    } else if (constant.type == Type::Float) {
      numbers(constant.floats(), constant.form, print_real);
    } else if (constant.type == Type::Bool) {
      numbers(constant.bools(), constant.form, print_truth);
    } else {
      numbers(constant.ints(), constant.form, print_integer);
    }
  }

 private:
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  static std::string_view stream_name(std::int64_t number) {
    const auto streams = stream_names();
    return std::find_if(streams.begin(), streams.end(),
                        [&](const StreamName& stream) { return stream.number == number; })
        ->text;
  }

  void characters(const std::vector<std::int64_t>& codes) {
    std::string shown;
    for (std::size_t i = 0; i < std::min(codes.size(), limit_); ++i) {
      shown += static_cast<char>(codes[i]);
    }
    text_ += '"';
    text_ += limit_ == kNoLimit ? shown : escaped(shown);
    text_ += codes.size() > limit_ ? "\"..." : "\"";
  }

  template <typename T, typename Print>
  void numbers(const std::vector<T>& values, ConstantForm form, Print print) {
    if (form == ConstantForm::Scalar) {
      text_ += print(values.front());
      return;
    }
    const std::size_t indent = indent_;
    text_ += '(';
    for (std::size_t i = 0; i < std::min(values.size(), limit_); ++i) {
      const std::string element = print(values[i]);
      const bool fits = text_.size() - line_begin_ + element.size() + 1 < kColumns;
      if (i > 0 && (fits || limit_ != kNoLimit)) {
        text_ += ' ';
      } else if (i > 0) {
        end_line();
        begin_line(indent + 4);
      }
      text_ += element;
    }
    text_ += values.size() > limit_ ? " ...)" : ")";
  }

  std::string& text_;
  std::size_t limit_;
  std::size_t line_begin_ = 0;
  std::size_t indent_ = 0;
};

// The instruction's word and all arguments but names and constants.
void append_plain(std::string& text, const Instruction& instruction) {
  const OpInfo& op = info(instruction.op);
  text += op.text;
  if (op.takes_type()) append_type(text, type_name(instruction.type));
  if (op.argument == Argument::Counts) {
    text += fmt::format(" {} {}", instruction.a, instruction.b);
  }
}

void append_signature(std::string& text, const Function& function) {
  if (!function.has_signature) return;
  text += " I";
  for (Type type : function.declared_in) append_type(text, type_name(type));
  text += " O";
  for (Type type : function.declared_out) append_type(text, type_name(type));
}

// `comments`: for the instruction of the same number, or none.
void print_code(const std::vector<Instruction>& code, const Program& program,
                const std::vector<std::string>& comments, Writer& writer) {
  std::size_t depth = 1;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Instruction& instruction = code[i];
    const Op op = instruction.op;
    if (op == Op::Else || op == Op::EndIf || op == Op::Return) --depth;
    writer.begin_line(std::min(2 * depth, kDeepestIndent));
    append_plain(writer.text(), instruction);
    if (op == Op::Call || op == Op::Run) {
      writer.text() += ' ';
      writer.text() += program.names[instruction.a];
    }
    if (op == Op::Const) {
      writer.constant(program.constants[instruction.a]);
    }
    if (i < comments.size() && !comments[i].empty()) writer.comment(comments[i]);
    writer.end_line();
    if (op == Op::If || op == Op::Else) ++depth;
  }
}

void print_function(const Function& function, const Program& program,
                    const std::vector<std::string>& comments, Writer& writer) {
  writer.begin_line(0);
  writer.text() += "FUNC ";
  writer.text() += function.name;
  append_signature(writer.text(), function);
  writer.end_line();
  print_code(function.code, program, comments, writer);
}

void print_kernel(const Kernel& kernel, const Program& program, Writer& writer) {
  print_kernel_head(kernel, writer.text());
  if (kernel.has_spec) {
    writer.text() += "SPEC\n";
    print_code(kernel.spec, program, {}, writer);
  }
  writer.text() += "END\n";
}

void print_header(const FcodeHeader& header, std::string& text) {
  const auto width = [](const std::optional<int>& bits) {
    return bits ? std::to_string(*bits) : "ANY";
  };
  text += fmt::format("FCODE {}\nWIDTH INT {}\nWIDTH FLOAT {}\n", kFcodeVersion,
                      width(header.int_width), width(header.float_width));
}

}  // namespace

std::string print(const Program& program, const Comments& comments) {
  std::string text;
  Writer writer(text);
  if (program.fcode) print_header(*program.fcode, text);
  for (const Kernel& kernel : program.kernels) {
    text += '\n';
    print_kernel(kernel, program, writer);
  }
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    if (!text.empty()) text += '\n';
    print_function(program.functions[i], program,
                   i < comments.size() ? comments[i] : std::vector<std::string>(), writer);
  }
  return text;
}

std::string print(const Instruction& instruction, const LinkedProgram& program) {
  std::string text;
  append_plain(text, instruction);
  if (instruction.op == Op::Call) text += ' ' + program.functions[instruction.a].name;
  if (instruction.op == Op::Run) text += ' ' + program.kernels[instruction.a].definition.name;
  if (instruction.op == Op::Const) {
    Writer(text, kTracedElements).constant(program.constants[instruction.a]);
  }
  return text;
}

std::string print_real(double value) {
  if (std::isinf(value)) return value < 0 ? "-1.0e400" : "1.0e400";
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), result.ptr);
  // The shortest form of a whole number has no point, and would be no real.
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

}  // namespace vcode
