# The CUDA back end, libhalfbridge_cuda.so, which libhalfbridge.so opens when a program first asks for CUDA. CUDA's runtime is
# in it, so that it loads on machines without a driver.
set(HALFBRIDGE_CUDA AUTO CACHE STRING "Build the CUDA back end: ON, OFF, or AUTO (where nvcc is found)")
set(HALFBRIDGE_CUDA_ARCHITECTURES "" CACHE STRING "GPUs to compile for; the last is kept as PTX, too; empty: 80, 90 and 100")
set(_gpus ${HALFBRIDGE_CUDA_ARCHITECTURES})
if(NOT _gpus AND HALFBRIDGE_TESTS)
  set(_gpus 90-real)  # tests are built for one, whatever the folder was configured for before
elseif(NOT _gpus)
  set(_gpus 80-real 90-real 100)
endif()
set(HALFBRIDGE_GPUS "${_gpus}" CACHE INTERNAL "What the CUDA back end is compiled for")
include(${CMAKE_CURRENT_LIST_DIR}/as_one.cmake)
file(GLOB HALFBRIDGE_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
# Files of kernels that nvcc compiles as one: headers are 9 of the 12 seconds that a small file takes it. The others, and any
# that is not named here, are compiled alone. Names in the files of a group must differ.
set(HALFBRIDGE_CUDA_GROUPS
  "copies: copy_pieces embedding_bag histogram moved_rows"
  "functions: amp cross dot log_sigmoid one_hot"
  "images: columns_to_image depthwise grid_sample tap_sum"
  "lists: distinct put_runs"
  "losses: ctc pair_distance pair_loss"
  "matrices: matrices small_qr small_factor"
  "norms: batch_norm group_norm gemm_kernels"
  "windows: conv_kernels separable"
  "rows: embedding factories lstm moments row_order search"
  "sparse: bernoulli sparse")
find_program(HALFBRIDGE_NVCC nvcc PATHS /usr/local/cuda/bin)

if(HALFBRIDGE_CUDA STREQUAL "ON" AND NOT HALFBRIDGE_NVCC)
  message(FATAL_ERROR "Halfbridge: HALFBRIDGE_CUDA is ON, and there is no nvcc")
endif()
if(HALFBRIDGE_CUDA AND HALFBRIDGE_NVCC AND NOT HALFBRIDGE_SANITIZE)
  set(CMAKE_CUDA_COMPILER ${HALFBRIDGE_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES ${HALFBRIDGE_GPUS})
  if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(_compiled ${HALFBRIDGE_CUDA_SOURCES})
  foreach(_group IN LISTS HALFBRIDGE_CUDA_GROUPS)
    string(REGEX MATCHALL "[a-z_0-9]+" _names ${_group})
    list(POP_FRONT _names _name)
    list(TRANSFORM _names REPLACE "(.+)" "cuda/\\1.cu")
    halfbridge_as_one(_file cuda_groups/${_name}.cu ${_names})
    list(TRANSFORM _names PREPEND ${PROJECT_SOURCE_DIR}/src/)
    list(REMOVE_ITEM _compiled ${_names})
    list(APPEND _compiled ${_file})
  endforeach()
  add_library(halfbridge_cuda MODULE ${_compiled})
  target_include_directories(halfbridge_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(halfbridge_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-Xcompiler=-Wno-class-memaccess>)
  target_precompile_headers(halfbridge_cuda PRIVATE $<$<COMPILE_LANGUAGE:CXX>:<halfbridge/tensor.h>>)
  set_target_properties(halfbridge_cuda PROPERTIES CUDA_VISIBILITY_PRESET hidden LINKER_LANGUAGE CXX
                        CUDA_ARCHITECTURES "${HALFBRIDGE_GPUS}" INSTALL_RPATH "$ORIGIN")
  if(HALFBRIDGE_TESTS)  # one of which reads how many registers kernels take
    target_compile_options(halfbridge_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-v>)
    set_target_properties(halfbridge_cuda PROPERTIES CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/tools/gpu/keep_ptxas_log.sh)
    set_property(TARGET halfbridge_cuda APPEND PROPERTY CUDA_COMPILER_LAUNCHER ${CMAKE_CUDA_COMPILER_LAUNCHER})
  endif()
  target_link_libraries(halfbridge_cuda PRIVATE halfbridge CUDA::cudart_static)
  target_link_options(halfbridge_cuda PRIVATE -Wl,--no-undefined -Wl,-z,nodelete -Wl,--exclude-libs,ALL)
endif()
