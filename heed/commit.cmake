# Writes heed_commit.h, and only when it says something new: run at every build, so that no program tells an old commit.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --dirty=+ --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
# A source tree inside another project's repository, or in none, has no commit of its own.
execute_process(COMMAND git -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH ${SOURCE} source)
if(NOT top STREQUAL source)
  set(commit "")
endif()
set(new "#define HEED_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL new)
  file(WRITE ${HEADER} "${new}")
endif()
