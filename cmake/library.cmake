# The one library: engine (src), bridge (bridge/src), training layer (train/src) and traces (trace/src).
find_package(OpenMP REQUIRED COMPONENTS CXX)
# Debian's CMake package of oneDNN asks for OpenCL's headers, which nothing here needs: look for the library itself.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
file(STRINGS ${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h _dnnl_version REGEX "define DNNL_VERSION_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2" _dnnl_version "${_dnnl_version}")
if(NOT _dnnl_version VERSION_GREATER_EQUAL 2.6 OR NOT _dnnl_version VERSION_LESS 4)
  message(FATAL_ERROR "Halfbridge needs oneDNN 2.6 to 3 (Debian: libdnnl-dev), got '${_dnnl_version}' in "
                      "${DNNL_INCLUDE_DIR}: set DNNL_INCLUDE_DIR and DNNL_LIBRARY")
endif()
if(NOT TARGET DNNL::dnnl)  # a project around this one may have found it
  add_library(DNNL::dnnl UNKNOWN IMPORTED)
  set_target_properties(DNNL::dnnl PROPERTIES
    IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED CONFIG)

include(${CMAKE_CURRENT_LIST_DIR}/layers.cmake)
# Loops whose speed depends on the instruction set are compiled once per set and chosen when the library loads.
file(GLOB HALFBRIDGE_ISA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/isa/*.cpp)
# Tiles of bf16 need a flag of their own, which no other file may have.
file(GLOB HALFBRIDGE_AMX_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/amx/*.cpp)

# Steps of optimizers and of ranges round where LibTorch's do; differences and sums of products round alike with every
# instruction set.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cpu/isa/optim.cpp
                            ${PROJECT_SOURCE_DIR}/src/cpu/isa/optim_scaled.cpp
                            ${PROJECT_SOURCE_DIR}/src/cpu/isa/factories.cpp
                            ${PROJECT_SOURCE_DIR}/src/cpu/isa/cross.cpp
                            ${PROJECT_SOURCE_DIR}/src/cpu/isa/pair_distance.cpp
                            PROPERTIES COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)

# Some 1,300 wrappers that call the functions of their names: 450 KB smaller so.
file(GLOB _operators CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bridge/src/dispatch/aten/operators_*.cpp)
set_property(SOURCE ${_operators} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
set_property(SOURCE ${_operators} PROPERTY SKIP_PRECOMPILE_HEADERS ON)

# Vendors' headers stand in the CPU's folder alone, the libraries of files in that of files.
target_link_libraries(halfbridge_cpu PRIVATE DNNL::dnnl)
foreach(layer io profiler bridge train graph trace)
  target_link_libraries(halfbridge_${layer} PRIVATE PkgConfig::LIBZIP ZLIB::ZLIB nlohmann_json::nlohmann_json)
endforeach()

# Objects of the plain instruction set stand first on the link line, so that the linker keeps their copies of
# shared inline functions and no wider instruction reaches a CPU that lacks it.
# Those that a sanitizer looks into come before all, for the same reason.
set(HALFBRIDGE_OBJECTS "")
set(_in_order ${HALFBRIDGE_SANITIZED_LAYERS} ${HALFBRIDGE_LAYERS})
list(REMOVE_DUPLICATES _in_order)
foreach(layer IN LISTS _in_order)
  list(APPEND HALFBRIDGE_OBJECTS $<TARGET_OBJECTS:halfbridge_${layer}>)
endforeach()
set(HALFBRIDGE_ISA_OBJECTS "")

set(HALFBRIDGE_FAST_LOOPS -O3)
if(HALFBRIDGE_SANITIZE AND NOT HALFBRIDGE_SANITIZED_LAYERS)
  set(HALFBRIDGE_FAST_LOOPS "")
endif()
foreach(isa v3 v4)
  if(HALFBRIDGE_ISA_SOURCES)
    add_library(halfbridge_${isa} OBJECT ${HALFBRIDGE_ISA_SOURCES})
    halfbridge_build_settings(halfbridge_${isa})
    target_compile_definitions(halfbridge_${isa} PRIVATE HB_ISA=${isa})
    target_compile_options(halfbridge_${isa} PRIVATE -march=x86-64-${isa} ${HALFBRIDGE_FAST_LOOPS}
                           -fno-math-errno -fno-trapping-math
                           $<$<STREQUAL:${isa},v4>:-mprefer-vector-width=512> -Wno-init-list-lifetime)
    target_precompile_headers(halfbridge_${isa} PRIVATE <immintrin.h> <halfbridge/tensor.h>)
    list(APPEND HALFBRIDGE_ISA_OBJECTS $<TARGET_OBJECTS:halfbridge_${isa}>)
  endif()
endforeach()

add_library(halfbridge_amx OBJECT ${HALFBRIDGE_AMX_SOURCES})
halfbridge_build_settings(halfbridge_amx)
target_compile_options(halfbridge_amx PRIVATE -march=x86-64-v4 -mamx-tile -mamx-bf16 -mavx512bf16
                       ${HALFBRIDGE_FAST_LOOPS} -mprefer-vector-width=512)
list(APPEND HALFBRIDGE_ISA_OBJECTS $<TARGET_OBJECTS:halfbridge_amx>)

add_library(halfbridge SHARED ${HALFBRIDGE_OBJECTS} ${HALFBRIDGE_ISA_OBJECTS})
target_include_directories(halfbridge PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bridge/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/train/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/graph/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/trace/include>)
# oneDNN is not linked: src/cpu/onednn/library.cpp loads it, apart from the oneDNN that LibTorch brings.
set(HALFBRIDGE_LIBRARIES PkgConfig::LIBZIP ZLIB::ZLIB nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
target_link_libraries(halfbridge PRIVATE ${HALFBRIDGE_LIBRARIES})
if(NOT HALFBRIDGE_SANITIZE)  # whose runtime comes with the program
  # Calls of its own functions skip the table through which a program could replace them: loops of TorchScript take two
  # thirds of the time.
  target_link_options(halfbridge PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic-functions)
endif()
target_link_options(halfbridge PRIVATE -Wl,-z,nodelete)  # its threads stay in its code, whoever closes it
# A fifth of the file would be names of functions that no program can call.
target_link_options(halfbridge PRIVATE $<$<CONFIG:Release>:-Wl,--discard-all>)
target_compile_features(halfbridge INTERFACE cxx_std_17)

# What library.cpp loads, to load oneDNN with it.
add_library(halfbridge_onednn MODULE ${PROJECT_SOURCE_DIR}/src/cpu/onednn/scope/keep_alive.cpp)
target_link_options(halfbridge_onednn PRIVATE -Wl,--no-as-needed)
target_link_libraries(halfbridge_onednn PRIVATE DNNL::dnnl)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/cpu/onednn/library.cpp APPEND PROPERTY
             COMPILE_DEFINITIONS HB_ONEDNN_SCOPE="$<TARGET_FILE_NAME:halfbridge_onednn>")
add_dependencies(halfbridge halfbridge_onednn)
set_target_properties(halfbridge PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX)
add_library(Halfbridge::halfbridge ALIAS halfbridge)

# LibTorch's names (torch/, ATen/, c10/) are a folder of their own: a program that uses hb:: beside the real LibTorch leaves
# it out.
add_library(halfbridge_torch INTERFACE)
include(${CMAKE_CURRENT_LIST_DIR}/aten_ops.cmake)
target_include_directories(halfbridge_torch INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bridge/names>
                                                      $<BUILD_INTERFACE:${HALFBRIDGE_ATEN_OPS}>)
target_link_libraries(halfbridge_torch INTERFACE halfbridge)
set_target_properties(halfbridge_torch PROPERTIES EXPORT_NAME torch)
add_library(Halfbridge::torch ALIAS halfbridge_torch)
