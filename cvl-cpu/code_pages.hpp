// Memory in which lie code and constants of this process, page by page as in their files.
#pragma once

namespace cvl::cpu {

/// Gives back the memory of the code and constants of the program and its libraries. What is used
/// again comes back from the file cache, 64 kB in a microsecond; what only the start needed, such
/// as the tables of the dynamic linker, initializers and the parser, does not. Segments with pages
/// that differ from their file, for breakpoints of a debugger for instance, stay.
void release_code_pages();

}  // namespace cvl::cpu
