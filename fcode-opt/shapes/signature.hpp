// Between the shapes of a walk and signatures.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// One of the numbers of a Shape in a signature: a known number, or one of the unknowns of the
/// signature and a known number more. Whatever differs by a known number shares an unknown.
struct SignatureTerm {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t unknown = kNone;
  std::int64_t more = 0;
  bool operator==(const SignatureTerm&) const = default;
};

struct SignatureShape {
  SignatureTerm length, sum, element;
  std::uint32_t content = 0;
  bool uniform = false;
  bool operator==(const SignatureShape&) const = default;
};

/// Of the parameters; or of parameters and then results, with common unknowns.
using SignatureShapes = std::vector<SignatureShape>;

/// Turns shapes into a signature: numbers its unknowns in order of appearance, each of which is
/// what it first appears in, so that equal knowledge gives equal signatures.
class SignatureWriter {
 public:
  explicit SignatureWriter(Shapes& shapes) : shapes_(shapes) {}
  SignatureShape write(ValueId value);

 private:
  SignatureTerm term(const Linear& term);

  struct Unknown {
    std::uint32_t number;
    std::int64_t constant;  // of what it first appears in
  };

  Shapes& shapes_;
  std::map<Linear, Unknown> unknowns_;  // by all of it but the constant
  std::map<Content, std::uint32_t> contents_;
};

/// Makes shapes of a signature. Unknowns that were not met before become new ones.
class SignatureReader {
 public:
  explicit SignatureReader(Shapes& shapes) : shapes_(shapes) {}
  /// Takes the unknowns of `signature` to be those of `actual`.
  void bind(const SignatureShape& signature, ValueId actual);
  Shape read(const SignatureShape& signature);

 private:
  Linear term(const SignatureTerm& term);

  Shapes& shapes_;
  std::map<std::uint32_t, Linear> unknowns_;
  std::map<std::uint32_t, Content> contents_;
};

/// What both signatures say: numbers and differences that are the same in both.
SignatureShapes common(const SignatureShapes& a, const SignatureShapes& b);

}  // namespace fcode
