# One source, two builds: every parity/<family>_cases.cpp goes into parity_libtorch and parity_halfbridge, and the test
# parity.<family> runs both for that family and compares what they wrote; device.<family> runs Halfbridge's on another device.
set(HALFBRIDGE_PARITY_FAMILIES "" CACHE STRING "Build only these families, separated by ';' (empty: all)")

file(GLOB _case_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/parity/*_cases.cpp)
file(GLOB _harness_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/parity/harness/*.cpp)
set(_families "")
foreach(file IN LISTS _case_files)
  get_filename_component(family ${file} NAME_WE)
  string(REGEX REPLACE "_cases$" "" family ${family})
  if(NOT HALFBRIDGE_PARITY_FAMILIES OR family IN_LIST HALFBRIDGE_PARITY_FAMILIES)
    list(APPEND _families ${family})
    list(APPEND _sources ${file})
  endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/group_cases.cmake)
halfbridge_as_one(_harness as_one/parity_harness.cpp ${_harness_files})
set_property(SOURCE ${_harness} PROPERTY COMPILE_DEFINITIONS
             HALFBRIDGE_RECORDED_FILES="${PROJECT_SOURCE_DIR}/unit_tests/io/python_files")
halfbridge_group_cases(_sources ${_sources})
halfbridge_two_builds_of_test(parity ${_harness} ${_sources})
foreach(side libtorch halfbridge)
  target_include_directories(parity_${side} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endforeach()
target_compile_options(parity_halfbridge PRIVATE -Og)  # two thirds of the time of -O2
target_precompile_headers(parity_halfbridge PRIVATE <torch/torch.h>)
target_sources(parity_halfbridge PRIVATE $<TARGET_OBJECTS:fake_device> $<TARGET_OBJECTS:cpu_random>)  # for --device and --draw-on-cpu

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
file(GLOB _compare_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/parity/compare/*.cpp)
add_executable(parity_compare ${_compare_files})
target_link_libraries(parity_compare PRIVATE fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)

find_package(GTest REQUIRED)
list(FILTER _compare_files EXCLUDE REGEX "/main\\.cpp$")
add_executable(compare_tests ${_compare_files} parity/compare/tests/compare_test.cpp)
target_link_libraries(compare_tests PRIVATE fmt::fmt nlohmann_json::nlohmann_json GTest::gtest_main)
add_test(NAME parity_tool.compare COMMAND compare_tests --gtest_brief=1)

foreach(family IN LISTS _families)
  add_test(NAME parity.${family}
    COMMAND ${CMAKE_COMMAND}
      -DLIBTORCH=$<TARGET_FILE:parity_libtorch> -DHALFBRIDGE=$<TARGET_FILE:parity_halfbridge>
      -DCOMPARE=$<TARGET_FILE:parity_compare> -DFAMILY=${family} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/parity
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_parity.cmake)
  set_tests_properties(parity.${family} PROPERTIES LABELS parity TIMEOUT 600)
  # Loops of the tests' own over memory of the host, and functions registered for the CPU alone.
  if(family MATCHES "^(tensor_iterator|cpu_vectors|registration|stable_abi)$")
    continue()
  endif()
  add_test(NAME device.${family}
    COMMAND ${CMAKE_COMMAND}
      -DHALFBRIDGE=$<TARGET_FILE:parity_halfbridge> -DCOMPARE=$<TARGET_FILE:parity_compare> -DFAMILY=${family}
      -DOUT=${CMAKE_CURRENT_BINARY_DIR}/device -DDEVICE=privateuseone -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_device.cmake)
  # One thread: to close the device's memory for others costs as much as a kernel.
  set_tests_properties(device.${family} PROPERTIES LABELS device TIMEOUT 600 ENVIRONMENT OMP_NUM_THREADS=1)
  if(TARGET halfbridge_software_cuda AND NOT HALFBRIDGE_SANITIZE)
    add_test(NAME cuda.${family}
      COMMAND ${CMAKE_COMMAND}
        -DHALFBRIDGE=$<TARGET_FILE:parity_halfbridge> -DCOMPARE=$<TARGET_FILE:parity_compare> -DFAMILY=${family}
        -DOUT=${CMAKE_CURRENT_BINARY_DIR}/cuda -DDEVICE=cuda -DSKIP=${CMAKE_CURRENT_SOURCE_DIR}/parity/not_on_cuda.txt
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_device.cmake)
    set(_at_once "")  # where errors of kernels are part of the cases
    if(family MATCHES "^bad_|^(decompositions|indexing|losses|module_linear|module_loss|nn_misc|sparse|tensor_functions)$")
      set(_at_once ";CUDA_LAUNCH_BLOCKING=1")
    endif()
    set_tests_properties(cuda.${family} PROPERTIES LABELS device TIMEOUT 600
      ENVIRONMENT "OMP_NUM_THREADS=1;HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>;SOFTWARE_CUDA_RANDOM=cpu${_at_once}")
  endif()
endforeach()
