#include "machine/io_ops.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "machine/character_block.hpp"
#include "machine/element_types.hpp"
#include "machine/format.hpp"

namespace vinterp {
namespace {

using cvl::Failure;
using cvl::Value;
using vcode::ErrorCode;
using vcode::Op;
using vcode::Type;

constexpr std::int64_t kStandardInput = 0;
constexpr std::int64_t kStandardOutput = 1;
constexpr std::int64_t kStandardError = 2;

// What FREAD_CHAR reports instead of a delimiter.
constexpr std::int64_t kEndOfFile = -1;
constexpr std::int64_t kMaximumReached = -2;

/// What SPAWN gives in place of an invalid stream.
constexpr std::int64_t kInvalidStream = -2;

std::string not_open(std::int64_t stream, const char* operation) {
  return fmt::format("illegal stream number {} for {}: it is not open", stream, operation);
}

/// Of results, which unlike the output of a program must arrive.
void check_output(int error) {
  if (error == 0) return;
  throw Failure(ErrorCode::OutputFailed,
                fmt::format("cannot write the results: {}", system_message(error)));
}

const char* prompt(Type type) {
  switch (type) {
    case Type::Bool:
      return "vinterp: input boolean vector, in form (T F): ";
    case Type::Float:
      return "vinterp: input float vector, in form (1.0 2.0 3.0): ";
    case Type::Segdes:
      return "vinterp: input segment descriptor, in form [1 2 3]: ";
    case Type::Char:
      return "vinterp: input string, in form \"string\": ";
    default:
      return "vinterp: input integer vector, in form (1 2 3): ";
  }
}

using ByteSet = std::bitset<256>;

/// The delimiters of FREAD_CHAR; codes that are no characters never match, or are errors.
ByteSet delimiter_set(cvl::Backend& backend, const cvl::Vector& delimiters, bool strict) {
  ByteSet set;
  constexpr std::int64_t kPiece = 1024;
  with_int(backend.widths(), [&](auto zero) {
    std::array<decltype(zero), kPiece> codes;
    for (std::int64_t begin = 0; begin < delimiters.length; begin += kPiece) {
      const std::int64_t count = std::min(kPiece, delimiters.length - begin);
      backend.download(delimiters, begin, count, codes.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const auto code = codes[static_cast<std::size_t>(i)];
        if (code >= 0 && code < static_cast<int>(set.size())) {
          set.set(static_cast<std::size_t>(code));
        } else if (strict) {
          throw Failure(ErrorCode::BadDelimiter,
                        fmt::format("delimiter {} of FREAD_CHAR is not a character",
                                    static_cast<std::int64_t>(code)),
                        {"characters have the codes 0 to 255"});
        }
      }
    }
  });
  return set;
}

/// Characters before the first delimiter.
std::size_t length_before(const ByteSet& delimiters, std::string_view text) {
  const auto found = std::find_if(
      text.begin(), text.end(), [&](char c) { return delimiters[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(found - text.begin());
}

/// Reads all that there is, at most so much; returns the status.
std::int64_t read_all(InputBuffer& input, std::size_t most, CharacterBlock& characters) {
  while (characters.size() < most) {
    if (characters.room() == 0) {
      if (input.peek() == InputBuffer::kEnd) return kEndOfFile;
      characters.grow(std::min(most, characters.size() + input.expected()));
    }
    const std::size_t wanted = std::min(characters.room(), most - characters.size());
    const std::size_t count = input.take(characters.end(), wanted);
    if (count == 0) return kEndOfFile;
    characters.add(count);
  }
  return kMaximumReached;
}

/// Reads up to one of the delimiters; returns the status. A negative maximum means none.
std::int64_t scan_characters(InputBuffer& input, const ByteSet& delimiters, std::int64_t maximum,
                             CharacterBlock& characters) {
  const std::size_t most = maximum < 0 ? SIZE_MAX : static_cast<std::size_t>(maximum);
  if (delimiters.none()) return read_all(input, most, characters);
  for (;;) {
    const std::size_t room = most - characters.size();
    if (room == 0) return kMaximumReached;
    const std::string_view ahead = input.ahead().substr(0, room);
    if (ahead.empty()) return kEndOfFile;
    const std::size_t length = length_before(delimiters, ahead);
    characters.append(ahead.substr(0, length));
    if (length < ahead.size()) {
      input.skip(length + 1);
      return static_cast<unsigned char>(ahead[length]);
    }
    input.skip(length);
  }
}

/// Those of the process.
StreamTable standard_streams() {
  prepare_standard_streams();
  return StreamTable();
}

}  // namespace

IoOperations::IoOperations(cvl::Backend& backend, IoOptions options)
    : IoOperations(backend, options, standard_streams()) {}

IoOperations::IoOperations(cvl::Backend& backend, IoOptions options, StreamTable streams)
    : backend_(backend), options_(options), streams_(std::move(streams)) {
  if (options_.recorded) record_.emplace(backend);
}

void IoOperations::execute(Op op, Type type, Value* operands, Value* results) {
  const bool gives_result = op == Op::Write && options_.messages != nullptr;
  if (!record_ || gives_result) return carry_out(op, type, operands, results);
  const vcode::OpInfo& info = vcode::info(op);
  record_->pass(op, type, {operands, info.operands.size()}, {results, info.results.size()},
                [&] { carry_out(op, type, operands, results); });
}

Value IoOperations::elapsed(double seconds) {
  Value result = cvl::make_float(backend_.widths(), seconds);
  if (record_) record_->pass(Op::StopTimer, Type::Float, {}, {&result, 1}, [] {});
  return result;
}

/// Does it show, outside of the program, how often the operation is carried out? Opening is looked
/// at by itself.
bool IoOperations::shows(Op op, const Value* operands) {
  const auto is_standard = [&](const Value& stream) {
    return scalar(stream, "a stream") <= kStandardError;
  };
  switch (op) {
    case Op::Write:
      return options_.messages == nullptr;
    case Op::FRead:
      return is_standard(operands[0]);
    case Op::FWrite:
      return is_standard(operands[1]);
    case Op::FReadChar:
    case Op::FReadNumbers:
    case Op::FWriteNumbers:
      return is_standard(operands[2]);
    case Op::FClose: {
      const Stream* const stream = streams_.find(scalar(operands[0], "a stream"));
      return stream != nullptr && stream->writable();
    }
    default:
      return op != Op::FOpen;
  }
}

void IoOperations::carry_out(Op op, Type type, Value* operands, Value* results) {
  can_be_repeated_ = can_be_repeated_ && !shows(op, operands);
  switch (op) {
    case Op::Read:
      return read(type, kStandardInput, results);
    case Op::FRead:
      return read(type, scalar(operands[0], "the stream of FREAD"), results);
    case Op::Write:
      if (options_.messages != nullptr) return write_message(type, operands[0], results);
      return write(type, operands[0], kStandardError, results);
    case Op::FWrite:
      return write(type, operands[0], scalar(operands[1], "the stream of FWRITE"), results);
    case Op::FReadChar:
      return read_characters(operands, results);
    case Op::FReadNumbers:
      return read_numbers(type, operands, results);
    case Op::FWriteNumbers:
      return write_numbers(type, operands, results);
    case Op::FOpen:
      return open(operands, results);
    case Op::FClose:
      return close(operands[0], results);
    case Op::Spawn:
      return spawn(operands, results);
    default:
      throw Failure(ErrorCode::Internal,
                    fmt::format("{} is not an input or output operation", vcode::info(op).text));
  }
}

void IoOperations::print(const Value& value) {
  Stream* stream = streams_.find(kStandardOutput);
  if (stream == nullptr) return;
  check_output(stream->writable() ? put_value(Type::Int, value, *stream, Digits::Classic) : EBADF);
}

void IoOperations::flush() {
  Stream* stream = streams_.find(kStandardOutput);
  if (stream != nullptr) check_output(stream->output().flush());
}

void IoOperations::read(Type type, std::int64_t number, Value* results) {
  std::string error;
  Stream* stream = streams_.find(number);
  if (stream != nullptr && stream->readable()) {
    Stream* errors = streams_.find(kStandardError);
    if (errors != nullptr && errors->writable() && stream->is_terminal()) {
      write_fully(errors->fd(), prompt(type));
    }
    ReadResult result = read_value(backend_, type, stream->input());
    results[0] = std::move(result.value);
    error = std::move(result.error);
  } else {
    results[0] = empty_value(backend_, type);
    if (stream != nullptr) {
      error = fmt::format("stream {} is not open for reading", number);
    } else if (number != kNullStream) {
      error = not_open(number, "FREAD");
    }
  }
  put_status(error, results + 1);
}

void IoOperations::check_writable(Type type, const Value& value) const {
  if (value.type() == Type::Pair) {
    throw Failure(ErrorCode::TypeMismatch, "a pair cannot be written");
  }
  if (type == Type::Char && value.type() != Type::Int) {
    throw Failure(ErrorCode::TypeMismatch,
                  fmt::format("only INT vectors can be written as CHAR, not {}",
                              vcode::type_name(value.type())));
  }
}

void IoOperations::write(Type type, const Value& value, std::int64_t stream, Value* results) {
  check_writable(type, value);
  put_status(try_write(type, value, stream), results);
}

void IoOperations::write_message(const std::string& text) {
  if (options_.messages != nullptr) {
    options_.messages->append(text);
    return;
  }
  Stream* const stream = streams_.find(kStandardError);
  if (stream == nullptr || !stream->writable()) return;
  if (stream->output().write(text) == 0) stream->output().flush();
}

void IoOperations::write_message(Type type, const Value& value, Value* results) {
  check_writable(type, value);
  const TextSink sink = [this](std::string_view text) {
    options_.messages->append(text);
    return true;
  };
  put_text(type, value, sink, Digits::Classic);
  put_status({}, results);
}

Stream* IoOperations::output_stream(std::int64_t number, const char* operation,
                                    std::string& error) {
  Stream* const stream = streams_.find(number);
  if (number == kNullStream) {
    error = "NULL_STREAM cannot be written to";
  } else if (stream == nullptr) {
    error = not_open(number, operation);
  } else if (!stream->writable()) {
    error = fmt::format("stream {} is not open for writing", number);
  } else {
    return stream;
  }
  return nullptr;
}

/// Returns the error text, empty on success.
std::string IoOperations::try_write(Type type, const Value& value, std::int64_t number) {
  std::string reason;
  Stream* const stream = output_stream(number, "FWRITE", reason);
  if (stream == nullptr) return reason;
  // What is kept in a file loses nothing.
  const Digits digits = number > kStandardError ? Digits::Exact : Digits::Classic;
  int error = put_value(type, value, *stream, digits);
  if (error == 0) error = stream->finish_output();
  return error == 0 ? std::string() : system_message(error);
}

/// Puts the text of a value into the buffer of a stream. Returns 0 or the error number.
int IoOperations::put_value(Type type, const Value& value, Stream& stream, Digits digits) {
  int error = 0;
  const TextSink sink = [&](std::string_view text) {
    error = stream.output().write(text);
    return error == 0;
  };
  put_text(type, value, sink, digits);
  return error;
}

void IoOperations::put_text(Type type, const Value& value, const TextSink& sink, Digits digits) {
  if (type == Type::Char) {
    write_characters(backend_, value.vector(), sink);
  } else {
    write_value(backend_, value, sink, digits);
  }
}

void IoOperations::read_characters(const Value* operands, Value* results) {
  const std::int64_t maximum = scalar(operands[1], "the maximum of FREAD_CHAR");
  const std::int64_t number = scalar(operands[2], "the stream of FREAD_CHAR");
  const ByteSet delimiters = delimiter_set(backend_, operands[0].vector(), options_.strict);
  Stream* stream = streams_.find(number);
  if (stream == nullptr) {
    results[0] = empty_value(backend_, Type::Int);
    results[1] = empty_value(backend_, Type::Int);
    return put_status(not_open(number, "FREAD_CHAR"), results + 2);
  }
  // A stream that is not open for reading looks like a file that is at its end.
  std::int64_t status = maximum == 0 ? kMaximumReached : kEndOfFile;
  std::string error;
  if (stream->readable()) {
    stream->input().begin();
    CharacterBlock characters(backend_);
    status = scan_characters(stream->input(), delimiters, maximum, characters);
    results[0] = characters.take();
    if (stream->input().error() != 0) error = system_message(stream->input().error());
  } else {
    results[0] = empty_value(backend_, Type::Int);
  }
  results[1] = cvl::make_int(backend_.widths(), status);
  put_status(error, results + 2);
}

std::optional<NumberForm> IoOperations::number_form(const Value& name, Type type,
                                                    std::string& error) {
  const std::string text = text_of(name.vector());
  const std::optional<NumberForm> form = NumberForm::named(text);
  if (form && form->fits(type)) return form;
  error = fmt::format("`{}` is no form of {}, as `text` and `{}` are", vcode::escaped(text),
                      type == Type::Int ? "integers" : "floats", type == Type::Int ? "<i4" : "<f8");
  return std::nullopt;
}

void IoOperations::read_numbers(Type type, const Value* operands, Value* results) {
  std::string error;
  const std::optional<NumberForm> form = number_form(operands[0], type, error);
  const std::int64_t most = scalar(operands[1], "the maximum of FREAD_NUMBERS");
  const std::int64_t number = scalar(operands[2], "the stream of FREAD_NUMBERS");
  Stream* const stream = streams_.find(number);
  if (stream == nullptr) {
    error = not_open(number, "FREAD_NUMBERS");
  } else if (!stream->readable()) {
    error = fmt::format("stream {} is not open for reading", number);
  }
  if (!error.empty()) {
    results[0] = empty_value(backend_, type);
    results[1] = cvl::make_int(backend_.widths(), kEndOfFile);
    return put_status(error, results + 2);
  }
  stream->input().begin();
  NumbersRead found = vinterp::read_numbers(backend_, type, *form, std::max<std::int64_t>(0, most),
                                            stream->input(), stream->number_place);
  results[0] = std::move(found.values);
  results[1] = cvl::make_int(backend_.widths(), found.ended ? kEndOfFile : kMaximumReached);
  put_status(found.error, results + 2);
}

void IoOperations::write_numbers(Type type, const Value* operands, Value* results) {
  std::string reason;
  const std::optional<NumberForm> form = number_form(operands[1], type, reason);
  Stream* const stream = form ? output_stream(scalar(operands[2], "the stream of FWRITE_NUMBERS"),
                                              "FWRITE_NUMBERS", reason)
                              : nullptr;
  if (stream == nullptr) return put_status(reason, results);
  int error = 0;
  reason =
      vinterp::write_numbers(backend_, operands[0].vector(), *form, [&](std::string_view text) {
        error = stream->output().write(text);
        return error == 0;
      });
  if (error == 0) error = stream->finish_output();
  put_status(error == 0 ? reason : system_message(error), results);
}

void IoOperations::open(const Value* operands, Value* results) {
  refuse_in_sandbox("FOPEN");
  const std::int64_t mode = scalar(operands[1], "the mode of FOPEN");
  if (mode < static_cast<int>(FileMode::Read) || mode > static_cast<int>(FileMode::New)) {
    throw Failure(
        ErrorCode::BadFileMode, fmt::format("FOPEN has no mode {}", mode),
        {"the modes are 1 (read), 2 (write), 3 (append), 4 (insert before the last line) and 5 "
         "(write a file that appears when it is closed)"});
  }
  const auto file_mode = static_cast<FileMode>(mode);
  const std::string name = text_of(operands[0].vector());
  NewFile file;
  FileDescriptor fd = file_mode == FileMode::New ? file.create(name) : open_file(name, file_mode);
  int error = fd ? 0 : errno;
  std::int64_t number = kNullStream;
  if (fd) {
    const bool ordinary = file_mode == FileMode::Read && is_ordinary_file(fd);
    const bool unseen = file_mode == FileMode::New && file.is_beside();
    can_be_repeated_ = can_be_repeated_ && (ordinary || unseen);
    const auto direction =
        file_mode == FileMode::Read ? Stream::Direction::Read : Stream::Direction::Write;
    auto stream = file_mode == FileMode::New
                      ? std::make_unique<Stream>(std::move(fd), std::move(file))
                      : std::make_unique<Stream>(std::move(fd), direction);
    if (ordinary && backend_.threads() > 1) stream->input().allow_reading_ahead();
    if (file_mode == FileMode::Insert) error = stream->keep_last_line();
    if (error == 0) number = streams_.add(std::move(stream));
  }
  results[0] = cvl::make_int(backend_.widths(), number);
  put_status(error == 0 ? std::string() : system_message(error), results + 1);
}

void IoOperations::close(const Value& operand, Value* results) {
  const std::int64_t number = scalar(operand, "the stream of FCLOSE");
  std::string error;
  if (streams_.find(number) != nullptr) {
    if (const int code = streams_.close(number); code != 0) error = system_message(code);
    children_.collect();
  } else if (number != kNullStream) {
    error = not_open(number, "FCLOSE");
  }
  put_status(error, results);
}

void IoOperations::spawn(const Value* operands, Value* results) {
  refuse_in_sandbox("SPAWN");
  std::int64_t numbers[3];
  for (int i = 0; i < 3; ++i) numbers[i] = scalar(operands[1 + i], "a stream of SPAWN");
  const std::string error = try_spawn(text_of(operands[0].vector()), numbers);
  // The streams come back in reverse order.
  for (int i = 0; i < 3; ++i) results[i] = cvl::make_int(backend_.widths(), numbers[2 - i]);
  put_status(error, results + 3);
}

/// `numbers` are those of in, out and err; they become those of the results. Returns the error
/// text, empty on success.
std::string IoOperations::try_spawn(const std::string& command, std::int64_t (&numbers)[3]) {
  std::string error;
  for (std::int64_t& number : numbers) {
    if (number == kNullStream || streams_.find(number) != nullptr) continue;
    if (error.empty()) error = not_open(number, "SPAWN");
    number = kInvalidStream;
  }
  const std::vector<std::string> words = split_command(command);
  if (error.empty() && words.empty()) error = "SPAWN of an empty command";
  if (error.empty() && command.find('\0') != std::string::npos) error = system_message(EINVAL);
  if (!error.empty()) return error;

  PipeEnds pipes[3];
  int child_ends[3];
  for (int i = 0; i < 3; ++i) {
    if (numbers[i] != kNullStream) {
      child_ends[i] = streams_.find(numbers[i])->fd();
      continue;
    }
    if (const int code = make_pipe(pipes[i]); code != 0) return system_message(code);
    child_ends[i] = (i == 0 ? pipes[i].read : pipes[i].write).get();
  }
  const int code = children_.start(words, {child_ends[0], child_ends[1], child_ends[2]});
  if (code != 0) return system_message(code);
  for (int i = 0; i < 3; ++i) {
    if (numbers[i] != kNullStream) continue;
    numbers[i] = i == 0 ? streams_.add(std::move(pipes[i].write), Stream::Direction::Write)
                        : streams_.add(std::move(pipes[i].read), Stream::Direction::Read);
  }
  return {};
}

std::int64_t IoOperations::scalar(const Value& value, const char* what) {
  const cvl::Vector& vector = value.vector();
  if (vector.length != 1) {
    throw Failure(ErrorCode::NotAScalar,
                  fmt::format("{} must be a single INT, not {} elements", what, vector.length));
  }
  return cvl::read_int(backend_, vector);
}

std::string IoOperations::text_of(const cvl::Vector& codes) {
  std::string text;
  write_characters(backend_, codes, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

void IoOperations::put_status(const std::string& error, Value* results) {
  results[0] = backend_.upload_characters(error);
  results[1] = cvl::make_bool(error.empty());
}

void IoOperations::refuse_in_sandbox(const char* operation) const {
  if (options_.sandbox) {
    throw Failure(ErrorCode::Sandboxed, fmt::format("--sandbox forbids {}", operation));
  }
}

}  // namespace vinterp
