// The input and output operations of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cvl/backend.hpp"
#include "machine/effect_record.hpp"
#include "machine/format.hpp"
#include "machine/numbers.hpp"
#include "machine/read_value.hpp"
#include "machine/spawn.hpp"
#include "machine/streams.hpp"

namespace vinterp {

struct IoOptions {
  bool sandbox = false;  // refuse SPAWN and FOPEN; the standard streams stay usable
  bool strict = false;   // option -c: delimiters outside 0 ... 255 are errors
  /// What WRITE adds to, as a result of the run; null: it goes to standard error.
  std::string* messages = nullptr;
  bool recorded = false;  // so that the program can be begun anew
};

/// Runs the operations of Family::Io and owns the streams of the program, in all of its runs if it
/// is begun anew. Not thread safe.
///
/// What goes wrong with a stream is a result of the program (an error text and the flag F); wrong
/// operands are thrown as cvl::Failure: TypeMismatch, NotAScalar, BadFileMode, BadDelimiter,
/// Sandboxed, OutOfMemory.
class IoOperations {
 public:
  /// Calls prepare_standard_streams() and uses the standard streams of the process. `backend` must
  /// outlive this.
  IoOperations(cvl::Backend& backend, IoOptions options);
  /// Uses the streams given instead (tests).
  IoOperations(cvl::Backend& backend, IoOptions options, StreamTable streams);

  /// Operands deepest first, as many and of the types that the table says; results deepest first,
  /// as many as the table says. What a program writes has been passed on to the operating system
  /// when this returns.
  /// Throws Departure, too.
  void execute(vcode::Op op, vcode::Type type, cvl::Value* operands, cvl::Value* results);

  /// What STOP_TIMER gives if it has measured so many seconds. Throws Departure.
  cvl::Value elapsed(double seconds);

  /// Null if nothing is recorded.
  EffectRecord* record() { return record_ ? &*record_ : nullptr; }

  /// Has nothing been done that would show if a new process did it once more? Files have been read,
  /// and new ones begun, but nothing else.
  bool can_be_repeated() const { return can_be_repeated_; }

  /// Does what WRITE CHAR does with the characters of a text.
  void write_message(const std::string& text);

  /// Adds the line of a value to standard output (stream 1), buffered until flush(). A program that
  /// has closed stream 1 does not want to see it: then nothing happens. Both throw Failure
  /// (OutputFailed).
  void print(const cvl::Value& value);
  void flush();

 private:
  bool shows(vcode::Op op, const cvl::Value* operands);
  void carry_out(vcode::Op op, vcode::Type type, cvl::Value* operands, cvl::Value* results);
  void read(vcode::Type type, std::int64_t stream, cvl::Value* results);
  void write(vcode::Type type, const cvl::Value& value, std::int64_t stream, cvl::Value* results);
  void write_message(vcode::Type type, const cvl::Value& value, cvl::Value* results);
  void check_writable(vcode::Type type, const cvl::Value& value) const;
  void read_characters(const cvl::Value* operands, cvl::Value* results);
  void read_numbers(vcode::Type type, const cvl::Value* operands, cvl::Value* results);
  void write_numbers(vcode::Type type, const cvl::Value* operands, cvl::Value* results);
  /// The form that the text names; nothing: `error` says why not.
  std::optional<NumberForm> number_form(const cvl::Value& name, vcode::Type type,
                                        std::string& error);
  void open(const cvl::Value* operands, cvl::Value* results);
  void close(const cvl::Value& stream, cvl::Value* results);
  void spawn(const cvl::Value* operands, cvl::Value* results);

  std::string try_write(vcode::Type type, const cvl::Value& value, std::int64_t stream);
  /// One that can be written to; null: `error` says why not.
  Stream* output_stream(std::int64_t number, const char* operation, std::string& error);
  int put_value(vcode::Type type, const cvl::Value& value, Stream& stream, Digits digits);
  void put_text(vcode::Type type, const cvl::Value& value, const TextSink& sink, Digits digits);
  std::string try_spawn(const std::string& command, std::int64_t (&numbers)[3]);
  std::int64_t scalar(const cvl::Value& value, const char* what);
  std::string text_of(const cvl::Vector& codes);
  void put_status(const std::string& error, cvl::Value* results);
  void refuse_in_sandbox(const char* operation) const;

  cvl::Backend& backend_;
  IoOptions options_;
  StreamTable streams_;
  ChildProcesses children_;
  std::optional<EffectRecord> record_;
  bool can_be_repeated_ = true;
};

}  // namespace vinterp
