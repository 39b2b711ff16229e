# Headers that are alike are written into the build tree. LibTorch has one for each function, <ATen/ops/add.h> and so on: here
# one for each of its functions and methods that Halfbridge has (aten_ops.txt). And programs name LibTorch's headers by the
# longer of their two paths, too: <torch/csrc/api/include/torch/nn.h> is <torch/nn.h>.
set(HALFBRIDGE_ATEN_OPS ${PROJECT_BINARY_DIR}/names)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/aten_ops.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/aten_ops.txt _ops)
foreach(op IN LISTS _ops)
  file(CONFIGURE OUTPUT ${HALFBRIDGE_ATEN_OPS}/ATen/ops/${op}.h CONTENT "#pragma once\n#include <ATen/Functions.h>\n")
endforeach()
file(GLOB_RECURSE _headers RELATIVE ${PROJECT_SOURCE_DIR}/bridge/names CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/bridge/names/torch/*.h)
list(FILTER _headers EXCLUDE REGEX "^torch/(csrc|headeronly)/")
foreach(header IN LISTS _headers)
  file(CONFIGURE OUTPUT ${HALFBRIDGE_ATEN_OPS}/torch/csrc/api/include/${header}
       CONTENT "#pragma once\n#include <${header}>\n")
endforeach()
