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
file(GLOB HALFBRIDGE_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
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
  add_library(halfbridge_cuda MODULE ${HALFBRIDGE_CUDA_SOURCES})
  target_include_directories(halfbridge_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(halfbridge_cuda PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda;-Xcompiler=-Wno-class-memaccess>)
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
