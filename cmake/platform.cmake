# What cannot build the library is one line, here and not in the middle of a compilation.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" OR
   NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "Halfbridge needs Linux on x86-64, got ${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}")
endif()
# Its loops are written in GCC's vector extensions; programs that use the library may be compiled by clang, too.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "Halfbridge is built by GCC 11 or later, got ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: "
                      "set CMAKE_CXX_COMPILER=g++")
endif()
# Programs see the version in a header, which stands in the source tree so that nothing is generated.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../include/halfbridge/version.h _version REGEX "define HALFBRIDGE_VERSION \"")
if(NOT _version MATCHES "\"${PROJECT_VERSION}\"")
  message(FATAL_ERROR "include/halfbridge/version.h says '${_version}', project() ${PROJECT_VERSION}")
endif()
