// Between the shapes of a walk and signatures.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "fcode-opt/shapes/analysis.hpp"

namespace fcode {

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
