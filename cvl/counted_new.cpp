// Counts what a program has from operator new (process_memory.hpp). Programs name this file among
// their sources; in a library it would be left to chance whether it is linked.
#include <cstdlib>
#include <malloc.h>
#include <new>

#include "cvl/process_memory.hpp"

namespace {

/// What the C heap keeps beside each block.
constexpr std::size_t kHeader = sizeof(void*);

}  // namespace

void* operator new(std::size_t bytes) {
  void* const block = std::malloc(bytes != 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t taken = malloc_usable_size(block) + kHeader;
  if (cvl::process_memory::add(taken)) return block;
  cvl::process_memory::subtract(taken);
  std::free(block);
  throw std::bad_alloc();
}

// The standard library has this call the one above; the run-time library of AddressSanitizer does
// not, and what the one gives and the operator delete below takes would then differ.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  cvl::process_memory::subtract(malloc_usable_size(block) + kHeader);
  std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
