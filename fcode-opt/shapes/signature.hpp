// Between the shapes of a walk and signatures.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// One of the numbers of a Shape in a signature: a known number, or one of the unknowns of the
/// signature, shared by everything that is equal.
struct SignatureTerm {
  bool known = false;
  std::int64_t value = 0;  // the number, or which unknown
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

/// Turns shapes into a signature: numbers its unknowns in order of appearance, so that equal
/// knowledge gives equal signatures.
class SignatureWriter {
 public:
  explicit SignatureWriter(Shapes& shapes) : shapes_(shapes) {}
  SignatureShape write(ValueId value);

 private:
  SignatureTerm term(const Linear& term);

  Shapes& shapes_;
  std::map<Linear, std::int64_t> unknowns_;
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
  std::map<std::int64_t, Linear> unknowns_;
  std::map<std::uint32_t, Content> contents_;
};

/// What both signatures say: equalities that hold in both.
SignatureShapes common(const SignatureShapes& a, const SignatureShapes& b);

}  // namespace fcode
