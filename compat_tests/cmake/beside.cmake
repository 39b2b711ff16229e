# Halfbridge and LibTorch in one program; the names layer, which has LibTorch's names too, is not on its include path.
if(NOT HALFBRIDGE_SANITIZE)  # LibTorch is not built with sanitizers
  find_package(GTest REQUIRED)
  file(GLOB _beside_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/beside/*.cpp)
  add_executable(beside_torch ${_beside_files})
  target_link_libraries(beside_torch PRIVATE halfbridge GTest::gtest_main)
  halfbridge_reference_target(beside_torch)
  target_precompile_headers(beside_torch REUSE_FROM libtorch_pch)
  add_test(NAME beside.torch COMMAND beside_torch --gtest_brief=1)
  set_tests_properties(beside.torch PROPERTIES LABELS unit TIMEOUT 300)
endif()
