# Writes build_info.cpp at build time; an unchanged file is left alone.
execute_process(
  COMMAND git -C ${SOURCE_DIR} rev-parse --short HEAD
  OUTPUT_VARIABLE NESL_COMMIT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT NESL_COMMIT)
  set(NESL_COMMIT unknown)
endif()
configure_file(${SOURCE_DIR}/build_info.cpp.in ${OUTPUT} @ONLY)
