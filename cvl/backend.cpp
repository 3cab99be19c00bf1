#include "cvl/backend.hpp"

#include <utility>
#include <vector>

namespace cvl {

namespace {

template <class Int>
Vector upload_codes(Backend& backend, std::string_view characters) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(characters.data());
  const std::vector<Int> codes(bytes, bytes + characters.size());
  return backend.upload(Type::Int, codes.data(), static_cast<std::int64_t>(codes.size()));
}

}  // namespace

Vector Backend::upload_characters(std::string_view characters) {
  return widths().int_bytes == 8 ? upload_codes<std::int64_t>(*this, characters)
                                 : upload_codes<std::int32_t>(*this, characters);
}

Vector Backend::adopt(Type type, Ref<Buffer> elements, std::int64_t length) {
  return upload(type, elements->data, length);
}

Vector Backend::adopt_characters(Ref<Buffer> characters, std::int64_t length) {
  return upload_characters({characters->as<char>(), static_cast<std::size_t>(length)});
}

std::int64_t read_int(Backend& backend, const Vector& vector, std::int64_t at) {
  if (backend.widths().int_bytes == 8) {
    std::int64_t number = 0;
    backend.download(vector, at, 1, &number);
    return number;
  }
  std::int32_t number = 0;
  backend.download(vector, at, 1, &number);
  return number;
}

bool read_bool(Backend& backend, const Vector& scalar) {
  std::uint8_t flag = 0;
  backend.download(scalar, 0, 1, &flag);
  return flag != 0;
}

Segdes make_segdes(Backend& backend, Vector lengths) {
  Value operand(std::move(lengths));
  Value result;
  backend.execute(vcode::Op::MakeSegdes, Type::Int, &operand, &result);
  return std::move(result.segdes());
}

Vector segdes_lengths(Backend& backend, const Segdes& segdes) {
  Value operand(segdes);
  Value result;
  backend.execute(vcode::Op::Lengths, Type::Int, &operand, &result);
  return std::move(result.vector());
}

}  // namespace cvl
