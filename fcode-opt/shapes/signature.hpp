// Between the shapes of a walk and signatures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
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

/// product = a·b, which no unknown says by itself: a grid of n rows is one sequence of n·n
/// elements.
struct SignatureProduct {
  SignatureTerm product, a, b;
  bool operator==(const SignatureProduct&) const = default;
};

/// Of the parameters; or of parameters and then results, with common unknowns.
struct SignatureShapes {
  std::vector<SignatureShape> values;
  std::vector<SignatureProduct> products;  // ascending by the unknown of the product
  bool operator==(const SignatureShapes&) const = default;
};

/// Turns shapes into a signature: numbers its unknowns in order of appearance, each of which is
/// what it first appears in, so that equal knowledge gives equal signatures.
class SignatureWriter {
 public:
  explicit SignatureWriter(Shapes& shapes) : shapes_(shapes) {}
  void add(ValueId value);
  /// Of all that has been added.
  SignatureShapes take();

 private:
  struct Unknown {
    std::uint32_t number;
    std::int64_t constant;  // of what it first appears in
  };

  std::pair<Linear, std::int64_t> split(const Linear& term) const;
  SignatureTerm term(const Linear& term);
  std::optional<SignatureTerm> met(const Linear& term) const;
  void find_products();

  Shapes& shapes_;
  SignatureShapes result_;
  std::map<Linear, Unknown> unknowns_;  // by all of it but the constant
  std::map<Content, std::uint32_t> contents_;
};

/// Makes shapes of a signature. Unknowns that were not met before become new ones.
class SignatureReader {
 public:
  /// The signature must outlive this.
  SignatureReader(Shapes& shapes, const SignatureShapes& signature)
      : shapes_(shapes), signature_(signature) {}
  /// Takes the unknowns of value number `index` to be those of `actual`.
  void bind(std::size_t index, ValueId actual);
  Shape read(std::size_t index);

 private:
  Linear term(const SignatureTerm& term);
  Linear unknown(std::uint32_t number);

  Shapes& shapes_;
  const SignatureShapes& signature_;
  std::map<std::uint32_t, Linear> unknowns_;
  std::map<std::uint32_t, Content> contents_;
};

/// What both signatures say: numbers, differences and products that are the same in both.
SignatureShapes common(const SignatureShapes& a, const SignatureShapes& b);

}  // namespace fcode
