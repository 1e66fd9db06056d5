# Version from git where there is one; written at configure time.
set(SSKJ_VERSION "0.1.0")
find_package(Git QUIET)
set(SSKJ_COMMIT "unknown")
if(GIT_FOUND)
  execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${CMAKE_CURRENT_SOURCE_DIR}" describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE SSKJ_COMMIT_OUT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE sskj_git_status)
  if(sskj_git_status EQUAL 0)
    set(SSKJ_COMMIT "${SSKJ_COMMIT_OUT}")
  endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/version.hpp.in" "${CMAKE_CURRENT_BINARY_DIR}/generated/sskj/build_version.hpp" @ONLY)
