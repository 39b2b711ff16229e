# The install tree:
#   lib/libhalfbridge.so
#   lib/libtorch.a, libtorch_cpu.a, libc10.a    scripts that send the linker to it, for projects that search LibTorch's files
#   lib/libhalfbridge_onednn.so                 what the library loads oneDNN with
#   lib/libhalfbridge_cuda.so                   where nvcc was found: the CUDA back end, opened when a program asks for it
#   bin/halfbridge                              the program: diff, trace, checkpoint, port, info
#   include/halfbridge/...                      engine, bridge and training layer, namespace hb
#   include/halfbridge-torch/{torch,ATen,c10}   LibTorch's names; only programs that find Torch here see them
#   include/torch/csrc/api/include              the same where Makefiles search them (longer_include.cmake)
#   share/cmake/Torch, share/cmake/Halfbridge   what find_package(Torch) and find_package(Halfbridge) find
#   lib/pkgconfig                               halfbridge.pc, and halfbridge-torch.pc with LibTorch's names
#   share/halfbridge                            halfbridge_capture.py; capture/: the project of libhalfbridge_capture.so
# Nothing in it depends on where it stands.
include(CMakePackageConfigHelpers)

set(_include ${CMAKE_INSTALL_INCLUDEDIR})
set(_packages ${CMAKE_INSTALL_DATADIR}/cmake)
set_target_properties(halfbridge PROPERTIES INSTALL_RPATH "$ORIGIN")
target_include_directories(halfbridge PUBLIC $<INSTALL_INTERFACE:${_include}>)

target_include_directories(halfbridge_torch INTERFACE $<INSTALL_INTERFACE:${_include}/halfbridge-torch>)

install(TARGETS halfbridge halfbridge_torch EXPORT HalfbridgeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# Not lib*.so: a process that holds LibTorch, too, would load them in its place.
foreach(name torch torch_cpu c10)
  file(WRITE ${PROJECT_BINARY_DIR}/packages/lib${name}.a "/* LibTorch's name for Halfbridge. */\nINPUT ( libhalfbridge.so )\n")
  install(FILES ${PROJECT_BINARY_DIR}/packages/lib${name}.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
install(TARGETS halfbridge_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# What has to be built before the tree can be installed; the program adds itself.
add_custom_target(halfbridge_installed DEPENDS halfbridge engines)
if(TARGET halfbridge_cuda)
  install(TARGETS halfbridge_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  add_dependencies(halfbridge_installed halfbridge_cuda)
endif()
install(DIRECTORY include/halfbridge bridge/include/halfbridge graph/include/halfbridge train/include/halfbridge trace/include/halfbridge DESTINATION ${_include}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES trace/python/halfbridge_capture.py DESTINATION ${CMAKE_INSTALL_DATADIR}/halfbridge)
install(DIRECTORY trace/capture DESTINATION ${CMAKE_INSTALL_DATADIR}/halfbridge)
install(DIRECTORY bridge/names/ DESTINATION ${_include}/halfbridge-torch FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.cuh")
install(DIRECTORY ${HALFBRIDGE_ATEN_OPS}/ DESTINATION ${_include}/halfbridge-torch)
include(${CMAKE_CURRENT_LIST_DIR}/longer_include.cmake)
install(EXPORT HalfbridgeTargets NAMESPACE Halfbridge:: DESTINATION ${_packages}/Halfbridge)

# LibTorch's API version is the version that programs ask of Torch; Halfbridge has its own.
set(HALFBRIDGE_TORCH_VERSION 2.11.0)
set(_torch_names ${_include}/halfbridge-torch)
file(RELATIVE_PATH _prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" _prefix ${_prefix})
foreach(name halfbridge halfbridge-torch)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/packages/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/packages/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/halfbridge)
foreach(package Torch Halfbridge)
  configure_package_config_file(
    cmake/${package}Config.cmake.in ${PROJECT_BINARY_DIR}/packages/${package}Config.cmake
    INSTALL_DESTINATION ${_packages}/${package}
    PATH_VARS _include _torch_names _packages NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  set(_version ${PROJECT_VERSION})
  set(_compatibility SameMinorVersion)
  if(package STREQUAL Torch)
    set(_version ${HALFBRIDGE_TORCH_VERSION})
    set(_compatibility AnyNewerVersion)
  endif()
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/packages/${package}ConfigVersion.cmake
                                   VERSION ${_version} COMPATIBILITY ${_compatibility})
  install(FILES ${PROJECT_BINARY_DIR}/packages/${package}Config.cmake
                ${PROJECT_BINARY_DIR}/packages/${package}ConfigVersion.cmake
          DESTINATION ${_packages}/${package})
endforeach()
