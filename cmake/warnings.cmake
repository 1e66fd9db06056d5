# Warnings for our own code only; third-party headers are SYSTEM.
add_library(sskj_warnings INTERFACE)
target_compile_options(sskj_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
                                               -Woverloaded-virtual -Wnull-dereference -Wcast-align -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports -Wnull-dereference inside inlined library code at -O2; it stays on in Debug, where it is precise.
  target_compile_options(sskj_warnings INTERFACE -Wlogical-op -Wduplicated-cond $<$<CONFIG:Release>:-Wno-null-dereference>)
endif()
if(SSKJ_WERROR)
  target_compile_options(sskj_warnings INTERFACE -Werror)
endif()
