# Warnings for our own code only; third-party headers are SYSTEM.
add_library(sskj_warnings INTERFACE)
target_compile_options(sskj_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
                                               -Woverloaded-virtual -Wnull-dereference -Wcast-align -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these three inside inlined library code at -O2 (GCC PR105329, PR105562 and their kin); they stay on in Debug, where they are precise.
  target_compile_options(sskj_warnings INTERFACE -Wlogical-op -Wduplicated-cond
                                                 $<$<NOT:$<CONFIG:Debug>>:-Wno-null-dereference> $<$<NOT:$<CONFIG:Debug>>:-Wno-restrict> $<$<NOT:$<CONFIG:Debug>>:-Wno-maybe-uninitialized>)
endif()
if(SSKJ_WERROR)
  target_compile_options(sskj_warnings INTERFACE -Werror)
endif()
