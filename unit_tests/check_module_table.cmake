# Fails where a module of the bridge has no row in modules.def, or a row has no module.
#   cmake -DCOMPILER=c++ -DROOT=<the repository> -P check_module_table.cmake
set(_includes -I${ROOT}/include -I${ROOT}/bridge/include)
function(preprocess out text)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/module_table_check.cpp)
  file(WRITE ${file} "${text}")
  execute_process(COMMAND ${COMPILER} -std=c++17 -E -P ${_includes} ${file} OUTPUT_VARIABLE output
                  RESULT_VARIABLE status ERROR_VARIABLE error)
  file(REMOVE ${file})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${error}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# Every module derives from Cloneable of itself, or of the class that derives from it.
preprocess(_headers "#include <halfbridge/bridge/nn.h>\n")
string(REGEX MATCHALL "Cloneable<[A-Za-z0-9_]+Impl>" _modules "${_headers}")
list(TRANSFORM _modules REPLACE "Cloneable<([A-Za-z0-9_]+)Impl>" "\\1")
list(REMOVE_DUPLICATES _modules)

preprocess(_table "#define HB_LAYER(module, ...) row(module)\n#define HB_CONTAINER(module) row(module)\n\
#include <halfbridge/bridge/nn/table/modules.def>\n")
string(REGEX MATCHALL "row\\([A-Za-z0-9_]+\\)" _rows "${_table}")
list(TRANSFORM _rows REPLACE "row\\(([A-Za-z0-9_]+)\\)" "\\1")

list(LENGTH _modules _count)
if(_count LESS 100)
  message(FATAL_ERROR "expected at least 100 modules in the headers, got ${_count}")
endif()
set(_without ${_modules})
list(REMOVE_ITEM _without ${_rows})
set(_unknown ${_rows})
list(REMOVE_ITEM _unknown ${_modules})
if(_without OR _unknown)
  message(FATAL_ERROR "bridge/include/halfbridge/bridge/nn/table/modules.def: expected a row for each module of the bridge; \
modules without a row: '${_without}', rows without a module: '${_unknown}'")
endif()
