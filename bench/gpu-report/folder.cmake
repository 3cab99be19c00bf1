# Fills FOLDER with PROGRAMS, the libraries that they need, what they run, the files FCODE among it, and
# machine code for GPU of all kernels. See gpu-report-folder.
if(NOT "${ARCHITECTURES}" MATCHES "${GPU}-real")
  message(WARNING "the library itself has no machine code for compute capability ${GPU}, so that the "
    "driver compiles it on the day; configure with -DNESL_CUDA_ARCHITECTURES=${GPU}-real")
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/bin ${FOLDER}/test-bin ${FOLDER}/lib ${FOLDER}/programs)
foreach(program IN LISTS PROGRAMS)
  get_filename_component(name ${program} NAME)
  if(name MATCHES "-test$")
    set(target ${FOLDER}/test-bin)
  else()
    set(target ${FOLDER}/bin)
  endif()
  file(COPY ${program} DESTINATION ${target})
  execute_process(COMMAND ${STRIP} ${target}/${name})
endforeach()

# Everything but the C library, whose version must suit the machine that it runs on.
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${PROGRAMS}
  RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^libc\\." "^libm\\." "^libmvec" "^ld-linux" "^libpthread" "^libdl" "^librt")
foreach(library IN LISTS libraries)
  file(COPY ${library} DESTINATION ${FOLDER}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()

# Optimized here, so that kernels are known. Without NVRTC here, they are left to the VCODE that they
# replace there.
file(GLOB programs ${SOURCE_DIR}/bench/gpu-report/programs/*.vcode)
foreach(program IN LISTS programs)
  get_filename_component(name ${program} NAME_WE)
  execute_process(COMMAND ${FCODE_OPT} ${program} -o ${FOLDER}/programs/${name}.fcode
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(COPY ${FCODE} DESTINATION ${FOLDER}/programs)
file(GLOB programs ${FOLDER}/programs/*.fcode)
foreach(program IN LISTS programs KERNELS)
  execute_process(COMMAND ${FCODE_OPT} --emit=cubin --gpu=${GPU} ${program} -o ${FOLDER}/kernels
    RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    message(WARNING "no machine code for the kernels of ${program}: ${output}")
  endif()
endforeach()
file(COPY ${SOURCE_DIR}/bench/gpu-report/run ${SOURCE_DIR}/scripts/gpu-test DESTINATION ${FOLDER}
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                   WORLD_EXECUTE)

file(GLOB_RECURSE files ${FOLDER}/*)
set(bytes 0)
foreach(file IN LISTS files)
  if(NOT IS_SYMLINK ${file})
    file(SIZE ${file} size)
    math(EXPR bytes "${bytes} + ${size}")
  endif()
endforeach()
math(EXPR megabytes "${bytes} / 1000000")
message(STATUS "gpu-report folder: ${megabytes} MB")
if(megabytes GREATER 60)
  message(FATAL_ERROR "the gpu-report folder is larger than 60 MB")
endif()
