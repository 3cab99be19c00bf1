// What the process has in memory besides vectors, so that a limit of memory is one of the process:
// texts, trees, programs, messages.
//
// A program that links counted_new.cpp counts what it has from operator new. Of that, what it had
// when a limit was first set is the program itself, which no limit counts.
#pragma once

#include <cstddef>

namespace cvl::process_memory {

/// Bytes from operator new, beyond those at the first set_limit(); 0 before it, and where nobody
/// counts.
std::size_t in_use() noexcept;

/// The thread that calls this gets std::bad_alloc from now on when operator new would exceed the
/// limit, less what is reserved. Small requests may go a little beyond: a message of the failure
/// needs some memory too.
void set_limit(std::size_t bytes) noexcept;
/// How much of the limit others have taken: vectors and stacks.
void set_reserved(std::size_t bytes) noexcept;

/// For operator new and delete: `bytes` more, or less, are in use. False if that is too much.
bool add(std::size_t bytes) noexcept;
void subtract(std::size_t bytes) noexcept;

}  // namespace cvl::process_memory
