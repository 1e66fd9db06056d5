# Third-party libraries as sskj::<name> targets; static archives where the binary is static. Everything comes from Debian (scripts/deps).
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(sskj_interface name)
  add_library(sskj_dep_${name} INTERFACE)
  add_library(sskj::${name} ALIAS sskj_dep_${name})
endfunction()

# A library file as a target of its own, so that CMake puts it before what it depends on: static archives need that order.
function(sskj_library name path)
  add_library(sskj_dep_${name} UNKNOWN IMPORTED GLOBAL)
  add_library(sskj::${name} ALIAS sskj_dep_${name})
  set_target_properties(sskj_dep_${name} PROPERTIES IMPORTED_LOCATION "${path}")
endfunction()

# A library by its .so or, when static, its .a (some CMake configs of Debian name only the .so).
function(sskj_find_library name library)
  if(SSKJ_STATIC)
    find_library(SSKJ_LIB_${name} NAMES lib${library}.a REQUIRED)
  else()
    find_library(SSKJ_LIB_${name} NAMES ${library} REQUIRED)
  endif()
  sskj_library(${name} "${SSKJ_LIB_${name}}")
endfunction()

function(sskj_find_header name header)
  sskj_interface(${name})
  find_path(SSKJ_INC_${name} NAMES ${header} REQUIRED)
  target_include_directories(sskj_dep_${name} SYSTEM INTERFACE "${SSKJ_INC_${name}}")
endfunction()

# Debian's fmt and spdlog archives do not exist: both are used header-only. spdlog must use the external fmt, and never link fmt::fmt.
sskj_find_header(fmt fmt/format.h)
target_compile_definitions(sskj_dep_fmt INTERFACE FMT_HEADER_ONLY=1)
sskj_find_header(spdlog spdlog/spdlog.h)
target_compile_definitions(sskj_dep_spdlog INTERFACE SPDLOG_FMT_EXTERNAL=1 SPDLOG_HEADER_ONLY=1)
target_link_libraries(sskj_dep_spdlog INTERFACE sskj::fmt Threads::Threads)

sskj_find_header(expected tl/expected.hpp)
sskj_find_header(json nlohmann/json.hpp)
sskj_find_header(cli CLI/CLI.hpp)

sskj_find_library(yaml yaml-cpp)
sskj_find_library(crypto crypto)
target_link_libraries(sskj_dep_crypto INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(SSKJ_STATIC) # Debian 13's libcrypto.a needs zlib and zstd; the .pc knows
  pkg_check_modules(SSKJ_CRYPTO REQUIRED libcrypto)
  list(REMOVE_ITEM SSKJ_CRYPTO_STATIC_LIBRARIES crypto)
  target_link_libraries(sskj_dep_crypto INTERFACE ${SSKJ_CRYPTO_STATIC_LIBRARIES})
endif()
sskj_find_library(ssl ssl)
target_link_libraries(sskj_dep_ssl INTERFACE sskj::crypto)
sskj_find_library(xxhash xxhash)

# Newer RE2 needs abseil: ask pkg-config for the whole static list.
pkg_check_modules(SSKJ_RE2 REQUIRED re2)
sskj_interface(re2)
if(SSKJ_STATIC)
  target_link_options(sskj_dep_re2 INTERFACE ${SSKJ_RE2_STATIC_LDFLAGS_OTHER})
  target_link_libraries(sskj_dep_re2 INTERFACE ${SSKJ_RE2_STATIC_LIBRARIES} Threads::Threads)
else()
  target_link_libraries(sskj_dep_re2 INTERFACE ${SSKJ_RE2_LIBRARIES})
endif()

# Beast costs 10-20 s a translation unit: separate compilation (one TU holds it), and only net, ssh, relay and bench .cpp files include it.
sskj_find_header(boost boost/beast/version.hpp)
target_compile_definitions(sskj_dep_boost INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
                                                    BOOST_ERROR_CODE_HEADER_ONLY BOOST_SYSTEM_NO_DEPRECATED)
target_link_libraries(sskj_dep_boost INTERFACE Threads::Threads)

# libssh2 >= 1.11.1 with Debian's security series, built by scripts/deps where the system's own is older (docs/adr). An older one works in a degraded mode: no RSA user keys.
find_path(SSKJ_LIBSSH2_INCLUDE NAMES libssh2.h HINTS "${SSKJ_DEPS}/include" REQUIRED)
find_library(SSKJ_LIBSSH2_LIBRARY NAMES libssh2.a ssh2 HINTS "${SSKJ_DEPS}/lib" "${SSKJ_DEPS}/lib/${CMAKE_LIBRARY_ARCHITECTURE}" REQUIRED)
sskj_library(ssh2 "${SSKJ_LIBSSH2_LIBRARY}")
target_include_directories(sskj_dep_ssh2 SYSTEM INTERFACE "${SSKJ_LIBSSH2_INCLUDE}")
target_link_libraries(sskj_dep_ssh2 INTERFACE sskj::crypto)
file(STRINGS "${SSKJ_LIBSSH2_INCLUDE}/libssh2.h" sskj_ssh2_version REGEX "define LIBSSH2_VERSION +\"")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" SSKJ_LIBSSH2_VERSION "${sskj_ssh2_version}")
if(SSKJ_LIBSSH2_VERSION VERSION_LESS 1.11.1)
  message(WARNING "libssh2 ${SSKJ_LIBSSH2_VERSION} is older than 1.11.1: degraded mode, RSA user keys will be refused by current OpenSSH")
  if(NOT SSKJ_LIBSSH2_LIBRARY MATCHES "\\.so")
    find_library(SSKJ_LIBGCRYPT NAMES libgcrypt.a gcrypt) # some distributions build libssh2.a against it; harmless when absent
  endif()
endif()
string(FIND "${SSKJ_LIBSSH2_LIBRARY}" "${SSKJ_DEPS}/" sskj_ssh2_is_ours)
if(NOT sskj_ssh2_is_ours EQUAL 0) # a distribution's libssh2.a has compression compiled in, ours has not
  target_link_libraries(sskj_dep_ssh2 INTERFACE z)
endif()

# cpp-httplib serves the tests' stub servers; product code may use it for a dashboard later. Not to be had in the degraded mode of scripts/deps.
find_path(SSKJ_HTTPLIB_INCLUDE NAMES httplib.h HINTS "${SSKJ_DEPS}/include")
if(SSKJ_HTTPLIB_INCLUDE)
  sskj_interface(httplib)
  target_include_directories(sskj_dep_httplib SYSTEM INTERFACE "${SSKJ_HTTPLIB_INCLUDE}")
  target_link_libraries(sskj_dep_httplib INTERFACE Threads::Threads)
elseif(SSKJ_TESTS)
  message(FATAL_ERROR "the tests need cpp-httplib: run scripts/deps where a Debian mirror answers, or configure with SSKJ_TESTS=OFF")
endif()

if(SSKJ_TESTS)
  find_package(GTest REQUIRED)
endif()
