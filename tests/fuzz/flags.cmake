# How heed is compiled for fuzzing. Unoptimised: compiling takes most of the time of a short run.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  message(FATAL_ERROR "HEED_FUZZ needs clang, for libFuzzer; scripts/fuzz installs and uses it")
endif()
target_compile_definitions(heed_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_compile_options(heed_flags INTERFACE
  -O0 -gline-tables-only -fno-omit-frame-pointer
  -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all
  -fsanitize-ignorelist=${CMAKE_CURRENT_LIST_DIR}/not-ours.txt)
target_link_options(heed_flags INTERFACE -fsanitize=address,undefined)
