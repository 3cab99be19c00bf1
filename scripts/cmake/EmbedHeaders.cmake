# Writes a C++ source that holds text files: cmake -DOUTPUT=... -DROOT=... -DFILES=a,b,c -P this.
#
# The source defines kEmbeddedHeaders, a table of names (relative to ROOT) and texts.
string(REPLACE "," ";" files "${FILES}")
set(text "// Made by scripts/cmake/EmbedHeaders.cmake.\n#include \"cvl-cuda/codegen/device_headers.hpp\"\n\nnamespace cvl::cuda::codegen {\n\nconst EmbeddedHeader kEmbeddedHeaders[] = {\n")
set(count 0)
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} content)
  string(APPEND text "{\"${file}\", R\"EMBEDDED(${content})EMBEDDED\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "};\nconst std::size_t kEmbeddedHeaderCount = ${count};\n\n}  // namespace cvl::cuda::codegen\n")
file(WRITE ${OUTPUT} "${text}")
