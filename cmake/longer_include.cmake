# Makefiles compile with -I$LIBTORCH/include -I$LIBTORCH/include/torch/csrc/api/include, and the second is where they find
# <torch/torch.h>. Here it is a folder that leads to halfbridge-torch. LibTorch's own headers include some by the longer path,
# <torch/csrc/api/include/torch/types.h>: a program that has LibTorch's folder behind ours must get LibTorch's, so each file
# gives way to a later one of its path.
set(_longer ${PROJECT_BINARY_DIR}/packages/longer)
file(REMOVE_RECURSE ${_longer})
file(GLOB_RECURSE _headers RELATIVE ${PROJECT_SOURCE_DIR}/bridge/names CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/bridge/names/torch/*.h)
foreach(header IN LISTS _headers)
  string(REGEX REPLACE "[^/]+" ".." _up torch/csrc/api/include/${header})
  string(REGEX REPLACE "[.][.]$" "halfbridge-torch/${header}" _target ${_up})
  file(CONFIGURE OUTPUT ${_longer}/${header} CONTENT "#if __has_include_next(<torch/csrc/api/include/${header}>)
#include_next <torch/csrc/api/include/${header}>
#else
#include \"${_target}\"
#endif
")
endforeach()
install(DIRECTORY ${_longer}/ DESTINATION ${_include}/torch/csrc/api/include)
# LibTorch has nothing of the longer path beside torch/.
foreach(folder ATen c10 caffe2)
  install(CODE "
    set(_in \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${_include}/torch/csrc/api/include\")
    file(MAKE_DIRECTORY \"\${_in}\")
    file(CREATE_LINK ../../../../halfbridge-torch/${folder} \"\${_in}/${folder}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${_include}/torch/csrc/api/include/${folder}\")")
endforeach()
