// The names of one kernel while it is parsed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "vcode/kernel.hpp"
#include "vcode/name_map.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {

/// Sizes, vectors and descriptors share one set of names, and each is bound once (rule 2). A name
/// whose definition was wrong is broken: uses of it are no further errors.
class KernelScope {
 public:
  enum class Kind : std::uint8_t { Size, Array, Segdes, Broken };
  struct Name {
    Kind kind = Kind::Broken;
    std::uint32_t id = 0;  // SizeId, ArrayId or SegdesId
    Span span;
    bool open = false;  // declared by OUT, or a size first met there, and not bound yet
  };

  KernelScope(Kernel& kernel, TokenReader& reader) : kernel_(kernel), reader_(reader) {}

  /// What the name stands for, or null. Valid until a name is added.
  Name* find(std::string_view name) { return names_.find(name); }
  /// Reads the name of something new. Nothing, after a report, if it cannot be one.
  std::optional<Token> new_name(std::string_view expected);
  /// Reads a word that can be a name, known or not.
  std::optional<Token> any_name(std::string_view expected);
  void fail_bound_twice(const Token& name, Span first);

  SizeId add_size(const Token& name);
  ArrayId add_array(const Token& name, Type type, SizeId length);
  SegdesId add_segdes(const Token& name, SizeId count, SizeId total);
  void add_broken(const Token& name);
  /// The size that a literal stands for; each value has one id.
  SizeId literal_size(std::int64_t value);
  /// A size that has no name: the number of elements that a filter keeps, ...
  SizeId unnamed_size();

  /// Reads a size: a name (a new one too, if `may_be_new`) or a literal.
  std::optional<SizeId> size(bool may_be_new);
  /// Reads the space of a binding: a size or a descriptor.
  std::optional<Space> space();
  /// Reads the name of a vector.
  std::optional<ArrayId> array();

  /// Reports the token as a name that the kernel does not know, unless it is broken.
  void fail_unknown(std::string_view what);
  void fail(ErrorCode code, std::string message, Span span, std::vector<Note> notes = {},
            std::string hint = {});

  Kernel& kernel() { return kernel_; }
  TokenReader& reader() { return reader_; }

 private:
  void bind(const Token& name, Kind kind, std::uint32_t id);

  Kernel& kernel_;
  TokenReader& reader_;
  NameMap<Name> names_;  // views into the source
  std::map<std::int64_t, SizeId> literals_;
};

}  // namespace vcode
