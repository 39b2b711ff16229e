# The LibTorch that parity tests and benchmarks compare with: HALFBRIDGE_LIBTORCH is the folder that holds torch/ (as
# `pip install --target` leaves it). Its libraries are linked by path: its own CMake package asks for the CUDA toolkit.
if(TARGET libtorch_reference)
  return()
endif()

set(_torch "${HALFBRIDGE_LIBTORCH}")
if(EXISTS "${_torch}/torch/lib/libtorch_cpu.so")
  set(_torch "${_torch}/torch")
endif()
if(NOT EXISTS "${_torch}/lib/libtorch_cpu.so" OR NOT EXISTS "${_torch}/include/torch/csrc/api/include/torch/torch.h")
  message(FATAL_ERROR "HALFBRIDGE_LIBTORCH='${HALFBRIDGE_LIBTORCH}' holds no LibTorch (no torch/lib/libtorch_cpu.so). "
                      "./dev test fetches it and sets this variable.")
endif()

add_library(libtorch_reference INTERFACE)
target_include_directories(libtorch_reference SYSTEM INTERFACE
  ${_torch}/include ${_torch}/include/torch/csrc/api/include)
target_compile_definitions(libtorch_reference INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
# libtorch_cpu registers its operators when it is loaded, so it stays linked even where no symbol is taken from it. The
# CUDA libraries that it names are never called here, hence --allow-shlib-undefined.
target_link_libraries(libtorch_reference INTERFACE
  -Wl,--no-as-needed ${_torch}/lib/libtorch_cpu.so ${_torch}/lib/libc10.so -Wl,--as-needed)
target_link_options(libtorch_reference INTERFACE
  -Wl,-rpath,${_torch}/lib -Wl,--allow-shlib-undefined -Wl,--disable-new-dtags)

# Settings of every target on LibTorch's side. LibTorch itself is not built with sanitizers, so neither is this.
function(halfbridge_reference_target target)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_link_libraries(${target} PRIVATE libtorch_reference)
  target_compile_options(${target} PRIVATE -w)
  foreach(property COMPILE_OPTIONS LINK_OPTIONS)
    get_target_property(options ${target} ${property})
    if(options)
      list(REMOVE_ITEM options ${HALFBRIDGE_SANITIZE_OPTIONS} -fsanitize=address,undefined -fsanitize=thread)
      set_target_properties(${target} PROPERTIES ${property} "${options}")
    endif()
  endforeach()
endfunction()

# <torch/torch.h> of LibTorch takes about 19 s to compile: once here, and never again. Tests compare values alone: their
# programs on LibTorch's side are not optimised, which takes 40 % off their compile time.
file(WRITE ${CMAKE_BINARY_DIR}/reference/pch.cpp "")
foreach(_pch libtorch_pch libtorch_pch_of_tests)
  add_library(${_pch} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/reference/pch.cpp)
  halfbridge_reference_target(${_pch})
  target_precompile_headers(${_pch} PRIVATE <torch/torch.h>)
endforeach()
target_compile_options(libtorch_pch_of_tests PRIVATE -O0)

# A target of tests on LibTorch's side.
function(halfbridge_reference_test target)
  halfbridge_reference_target(${target})
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM libtorch_pch_of_tests)
endfunction()

# The same sources built twice: ${name}_libtorch and ${name}_halfbridge.
function(halfbridge_two_builds name)
  add_executable(${name}_libtorch ${ARGN})
  halfbridge_reference_target(${name}_libtorch)
  target_precompile_headers(${name}_libtorch REUSE_FROM libtorch_pch)
  _halfbridge_own_build(${name} ${ARGN})
endfunction()
function(halfbridge_two_builds_of_test name)
  add_executable(${name}_libtorch ${ARGN})
  halfbridge_reference_test(${name}_libtorch)
  _halfbridge_own_build(${name} ${ARGN})
endfunction()
function(_halfbridge_own_build name)
  add_executable(${name}_halfbridge ${ARGN})
  set_target_properties(${name}_halfbridge PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF)
  target_link_libraries(${name}_halfbridge PRIVATE halfbridge_torch)
endfunction()
