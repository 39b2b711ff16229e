# Compiles a program with what pkg-config says of the install tree, and runs it.
set(ENV{PKG_CONFIG_PATH} ${TREE}/lib/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --modversion halfbridge OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "pkg-config says version '${version}', expected ${VERSION}")
endif()
file(MAKE_DIRECTORY ${PLACE})
foreach(pair halfbridge:hb_program halfbridge-torch:torch_program)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 package)
  list(GET pair 1 project)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${package} OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(GLOB sources ${PROJECTS}/${project}/*.cpp)
  execute_process(COMMAND ${COMPILER} -std=c++17 ${sources} -o ${PLACE}/${project} ${flags}
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PLACE}/${project} WORKING_DIRECTORY ${PLACE} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(REMOVE_RECURSE ${PLACE})
