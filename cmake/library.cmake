# The one library: engine (src), bridge (bridge/src), training layer (train/src) and traces (trace/src).
find_package(OpenMP REQUIRED COMPONENTS CXX)
# Debian's CMake package of oneDNN asks for OpenCL's headers, which nothing here needs: look for the library itself.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(DNNL::dnnl UNKNOWN IMPORTED)
set_target_properties(DNNL::dnnl PROPERTIES
  IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED CONFIG)

file(GLOB_RECURSE HALFBRIDGE_SOURCES CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/bridge/src/*.cpp
     ${PROJECT_SOURCE_DIR}/train/src/*.cpp ${PROJECT_SOURCE_DIR}/trace/src/*.cpp)
# Loops whose speed depends on the instruction set are compiled once per set and chosen when the library loads.
file(GLOB HALFBRIDGE_ISA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/isa/*.cpp)
# Tiles of bf16 need a flag of their own, which no other file may have.
file(GLOB HALFBRIDGE_AMX_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/amx/*.cpp)
list(FILTER HALFBRIDGE_SOURCES EXCLUDE REGEX "/src/cpu/(isa|amx)/")

function(halfbridge_build_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bridge/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/train/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/trace/include>)
  target_compile_definitions(${target} PRIVATE HB_BUILDING_LIBRARY)
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# An optimizer's steps round where LibTorch's do.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cpu/isa/optim.cpp
                            ${PROJECT_SOURCE_DIR}/src/cpu/isa/optim_scaled.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

set_source_files_properties(${PROJECT_SOURCE_DIR}/trace/src/recorder.cpp PROPERTIES
  COMPILE_DEFINITIONS HALFBRIDGE_VERSION="${PROJECT_VERSION}")

# Objects of the plain instruction set stand first on the link line, so that the linker keeps their copies of
# shared inline functions and no wider instruction reaches a CPU that lacks it.
add_library(halfbridge_base OBJECT ${HALFBRIDGE_SOURCES})
halfbridge_build_settings(halfbridge_base)
target_include_directories(halfbridge_base PRIVATE ${PROJECT_SOURCE_DIR}/bridge/src)
target_link_libraries(halfbridge_base PRIVATE DNNL::dnnl PkgConfig::LIBZIP ZLIB::ZLIB nlohmann_json::nlohmann_json)
set(HALFBRIDGE_OBJECTS $<TARGET_OBJECTS:halfbridge_base>)

foreach(isa v3 v4)
  if(HALFBRIDGE_ISA_SOURCES)
    add_library(halfbridge_${isa} OBJECT ${HALFBRIDGE_ISA_SOURCES})
    halfbridge_build_settings(halfbridge_${isa})
    target_compile_definitions(halfbridge_${isa} PRIVATE HB_ISA=${isa})
    target_compile_options(halfbridge_${isa} PRIVATE -march=x86-64-${isa} $<$<NOT:$<BOOL:${HALFBRIDGE_SANITIZE}>>:-O3>
                           -fno-math-errno -fno-trapping-math
                           $<$<STREQUAL:${isa},v4>:-mprefer-vector-width=512>)
    list(APPEND HALFBRIDGE_OBJECTS $<TARGET_OBJECTS:halfbridge_${isa}>)
  endif()
endforeach()

add_library(halfbridge_amx OBJECT ${HALFBRIDGE_AMX_SOURCES})
halfbridge_build_settings(halfbridge_amx)
target_compile_options(halfbridge_amx PRIVATE -march=x86-64-v4 -mamx-tile -mamx-bf16 -mavx512bf16
                       $<$<NOT:$<BOOL:${HALFBRIDGE_SANITIZE}>>:-O3> -mprefer-vector-width=512)
list(APPEND HALFBRIDGE_OBJECTS $<TARGET_OBJECTS:halfbridge_amx>)

add_library(halfbridge SHARED ${HALFBRIDGE_OBJECTS})
target_include_directories(halfbridge PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bridge/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/train/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/trace/include>)
# oneDNN is not linked: src/cpu/onednn/library.cpp loads it, apart from the oneDNN that LibTorch brings.
target_link_libraries(halfbridge PRIVATE PkgConfig::LIBZIP ZLIB::ZLIB nlohmann_json::nlohmann_json OpenMP::OpenMP_CXX ${CMAKE_DL_LIBS})
if(NOT HALFBRIDGE_SANITIZE)  # whose runtime comes with the program
  target_link_options(halfbridge PRIVATE -Wl,--no-undefined)
endif()
target_compile_features(halfbridge INTERFACE cxx_std_17)
set_target_properties(halfbridge PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX)

# LibTorch's names (torch/, ATen/, c10/) are a folder of their own: a program that uses hb:: beside the real LibTorch leaves
# it out.
add_library(halfbridge_torch INTERFACE)
target_include_directories(halfbridge_torch INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/bridge/names>)
target_link_libraries(halfbridge_torch INTERFACE halfbridge)
