# LibTorch has a header for each function, <ATen/ops/add.h> and so on. Here they are alike, so they are written into the build
# tree: one for each of LibTorch's functions and methods that Halfbridge has (aten_ops.txt).
set(HALFBRIDGE_ATEN_OPS ${PROJECT_BINARY_DIR}/names)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/aten_ops.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/aten_ops.txt _ops)
foreach(op IN LISTS _ops)
  file(CONFIGURE OUTPUT ${HALFBRIDGE_ATEN_OPS}/ATen/ops/${op}.h CONTENT "#pragma once\n#include <ATen/Functions.h>\n")
endforeach()
