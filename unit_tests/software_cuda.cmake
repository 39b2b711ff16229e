# A CUDA device without hardware: kernels are compiled by the host's compiler and run as fibers. Its own tests.
file(GLOB _software_cuda CONFIGURE_DEPENDS ${_here}/software_cuda/*.cpp)
add_library(software_cuda OBJECT ${_software_cuda})
target_include_directories(software_cuda PUBLIC ${_here} ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(software_cuda PUBLIC HB_SOFTWARE_CUDA)
set_target_properties(software_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON)

if(HALFBRIDGE_SANITIZE)
  halfbridge_not_sanitized("fibers are not known to them" unit.software_cuda)
else()
  add_executable(software_cuda_tests software_cuda/program/faults_test.cpp software_cuda/program/tensor_core_test.cpp)
  target_include_directories(software_cuda_tests PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(software_cuda_tests PRIVATE -Wno-unknown-pragmas)  # of nvcc's
  target_link_libraries(software_cuda_tests PRIVATE software_cuda GTest::gtest_main)
  add_test(NAME unit.software_cuda COMMAND software_cuda_tests --gtest_brief=1)
  set_tests_properties(unit.software_cuda PROPERTIES LABELS unit TIMEOUT 300)
endif()

# The CUDA back end's own sources upon it: what HALFBRIDGE_CUDA_LIBRARY names in tests. It is not installed.
file(GLOB _stand_ins CONFIGURE_DEPENDS ${_here}/software_cuda/libraries/*.cpp)
add_library(cpu_random OBJECT ${_here}/software_cuda/libraries/cpu_random.cpp)  # for the parity cases on a GPU
target_include_directories(cpu_random PRIVATE ${_here} ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(cpu_random PUBLIC halfbridge)
add_library(halfbridge_software_cuda MODULE ${HALFBRIDGE_CUDA_SOURCES} ${_stand_ins})
foreach(source IN LISTS HALFBRIDGE_CUDA_SOURCES)
  if(source MATCHES "\\.cu$")
    set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  endif()
endforeach()
target_include_directories(halfbridge_software_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include)
# Pragmas are nvcc's. Two threads of a block may see one place as two types. GCC forgets that array_ref.h turns the last off.
target_compile_options(halfbridge_software_cuda PRIVATE -Wno-unknown-pragmas -fno-strict-aliasing -Wno-init-list-lifetime)
target_precompile_headers(halfbridge_software_cuda PRIVATE <cuda/kernel_file.h>)
target_link_libraries(halfbridge_software_cuda PRIVATE software_cuda halfbridge)
target_link_options(halfbridge_software_cuda PRIVATE -Wl,--no-undefined -Wl,-z,nodelete)

if(HALFBRIDGE_SANITIZE)
  halfbridge_not_sanitized("fibers are not known to them" unit.software_cuda_backend)
else()
  add_executable(software_cuda_backend_tests software_cuda/program/backend_test.cpp software_cuda/program/across_test.cpp)
  target_include_directories(software_cuda_backend_tests PRIVATE ${_here})
  target_link_libraries(software_cuda_backend_tests PRIVATE halfbridge_torch GTest::gtest_main ${CMAKE_DL_LIBS})
  halfbridge_unit_target(software_cuda_backend_tests)
  add_dependencies(software_cuda_backend_tests halfbridge_software_cuda)
  foreach(allocator native cudaMallocAsync)
    add_test(NAME unit.software_cuda_backend_${allocator} COMMAND software_cuda_backend_tests --gtest_brief=1)
    set_tests_properties(unit.software_cuda_backend_${allocator} PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
      "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>;PYTORCH_CUDA_ALLOC_CONF=backend:${allocator}")
  endforeach()
  add_executable(software_cuda_training_tests software_cuda/program/functions_test.cpp software_cuda/program/training_test.cpp
                 software_cuda/program/attention_test.cpp software_cuda/program/attention_cudnn_test.cpp
                 software_cuda/program/counts_test.cpp software_cuda/program/optimizers_test.cpp
                 software_cuda/program/random_test.cpp software_cuda/program/graphs_test.cpp
                 software_cuda/program/tools_test.cpp software_cuda/program/late_pass_test.cpp
                 software_cuda/program/compiled_test.cpp software_cuda/program/late_product_test.cpp
                 software_cuda/program/rnn_test.cpp software_cuda/program/conv_plans_test.cpp
                 software_cuda/program/conv_refusals_test.cpp software_cuda/program/lines_test.cpp
                 software_cuda/program/images_test.cpp software_cuda/program/matrices_test.cpp
                 software_cuda/program/meeting_rows_test.cpp software_cuda/program/selection_test.cpp
                 software_cuda/program/vectors_test.cpp)
  target_include_directories(software_cuda_training_tests PRIVATE ${_here} ${PROJECT_SOURCE_DIR}/examples)
  target_link_libraries(software_cuda_training_tests PRIVATE halfbridge_torch GTest::gtest_main ${CMAKE_DL_LIBS})
  halfbridge_unit_target(software_cuda_training_tests)
  add_dependencies(software_cuda_training_tests halfbridge_software_cuda)
  # Steps that are recorded take their time: fifty of each kind, twice.
  foreach(part training graphs)
    set(_only $<IF:$<STREQUAL:${part},graphs>,GraphedSteps.*,-GraphedSteps.*>)
    add_test(NAME unit.software_cuda_${part} COMMAND software_cuda_training_tests --gtest_brief=1 --gtest_filter=${_only})
    set_tests_properties(unit.software_cuda_${part} PROPERTIES LABELS unit TIMEOUT 1200
                         ENVIRONMENT "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>")
  endforeach()
endif()

# What docs/devices.md is made of (tools/coverage/devices.py), and that it is up to date.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_executable(operator_table software_cuda/program/operator_table.cpp)
target_link_libraries(operator_table PRIVATE halfbridge_torch)
if(NOT HALFBRIDGE_SANITIZE)
  set(_table ${CMAKE_CURRENT_BINARY_DIR}/operators.tsv)
  add_test(NAME unit.operator_table COMMAND operator_table ${_table})
  set_tests_properties(unit.operator_table PROPERTIES LABELS unit TIMEOUT 900 FIXTURES_SETUP operator_table ENVIRONMENT
    "HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>;SOFTWARE_CUDA_RANDOM=cpu")
  add_test(NAME docs.devices COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/coverage/devices.py ${_table} --check)
  set_tests_properties(docs.devices PROPERTIES LABELS unit FIXTURES_REQUIRED operator_table)
endif()

# No kernel has more values than registers; what ptxas said stands beside each object. And the test itself can fail.
if(TARGET halfbridge_cuda)
  set(_kernels $<FILTER:$<TARGET_OBJECTS:halfbridge_cuda>,INCLUDE,[.]cu[.]o$>)
  set(_registers ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/gpu/registers.py)
  add_test(NAME unit.cuda_registers COMMAND ${_registers} $<JOIN:${_kernels},.ptxas$<SEMICOLON>>.ptxas COMMAND_EXPAND_LISTS)
  add_test(NAME unit.cuda_registers_spilled COMMAND ${_registers} ${_here}/software_cuda/program/spilled.ptxas)
  set_tests_properties(unit.cuda_registers unit.cuda_registers_spilled PROPERTIES LABELS unit)
  set_tests_properties(unit.cuda_registers_spilled PROPERTIES PASS_REGULAR_EXPRESSION "2 kernels, 1 of which spill")
endif()

# Why there is no CUDA device, in a sentence each.
add_executable(cuda_absence_program software_cuda/program/absence.cpp)
target_link_libraries(cuda_absence_program PRIVATE halfbridge_torch)
function(cuda_absence name sentence)
  add_test(NAME unit.cuda_absence_${name} COMMAND cuda_absence_program)
  set_tests_properties(unit.cuda_absence_${name} PROPERTIES LABELS unit ENVIRONMENT "${ARGN}"
    PASS_REGULAR_EXPRESSION "^\\[empty\\] device cuda(:0)? is not available: ${sentence}[^\n]* -- the CPU works")
endfunction()
cuda_absence(none "the variable HALFBRIDGE_CUDA_LIBRARY is none" HALFBRIDGE_CUDA_LIBRARY=none)
cuda_absence(no_library "the library libhalfbridge_cuda.so cannot be opened" HALFBRIDGE_CUDA_LIBRARY=/nowhere/lib.so)
cuda_absence(other_library "[^ ]* is not a CUDA back end of this version" HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge>)
if(NOT HALFBRIDGE_SANITIZE)
  set(_software HALFBRIDGE_CUDA_LIBRARY=$<TARGET_FILE:halfbridge_software_cuda>)
  cuda_absence(no_driver "there is no NVIDIA driver on this machine" ${_software} SOFTWARE_CUDA_ERROR=35)
  cuda_absence(no_gpu "there is an NVIDIA driver, and no GPU that it can use" ${_software} SOFTWARE_CUDA_ERROR=100)
endif()
if(TARGET halfbridge_cuda AND NOT EXISTS /proc/driver/nvidia)
  cuda_absence(here "there is (no NVIDIA driver on this machine|an NVIDIA driver, and no GPU)")
endif()
