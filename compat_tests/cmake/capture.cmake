# Traces of the reference: hb::capture() in a LibTorch program, the preloaded library, and Python's halfbridge_capture.py.
find_package(GTest REQUIRED)
add_executable(capture_tests capture/capture_libtorch_test.cpp)
halfbridge_reference_test(capture_tests)
target_include_directories(capture_tests PRIVATE ${PROJECT_SOURCE_DIR}/trace/include ${PROJECT_SOURCE_DIR}/bridge/include)
target_compile_definitions(capture_tests PRIVATE
  HALFBRIDGE_RECORDED_TRACE="${CMAKE_CURRENT_SOURCE_DIR}/capture/recorded/python")
target_link_libraries(capture_tests PRIVATE GTest::gtest_main nlohmann_json::nlohmann_json)
add_test(NAME capture.libtorch COMMAND capture_tests --gtest_brief=1 --gtest_filter=-Preload.*)

add_executable(capture_plain_program capture/plain_program.cpp)
halfbridge_reference_test(capture_plain_program)
add_library(halfbridge_capture SHARED ${PROJECT_SOURCE_DIR}/trace/capture/preload.cpp)
halfbridge_reference_target(halfbridge_capture)
target_include_directories(halfbridge_capture PRIVATE ${PROJECT_SOURCE_DIR}/trace/include ${PROJECT_SOURCE_DIR}/bridge/include)
target_compile_options(halfbridge_capture PRIVATE -UNDEBUG)  # as where no build type is chosen
set(_preloaded ${CMAKE_CURRENT_BINARY_DIR}/capture/preloaded)
add_test(NAME capture.preload_run COMMAND capture_plain_program)
set_tests_properties(capture.preload_run PROPERTIES FIXTURES_SETUP preloaded_trace
  ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:halfbridge_capture>;HALFBRIDGE_TRACE=${_preloaded}")
add_test(NAME capture.preload COMMAND capture_tests --gtest_brief=1 --gtest_filter=Preload.*)
set_tests_properties(capture.preload PROPERTIES FIXTURES_REQUIRED preloaded_trace
  ENVIRONMENT "HALFBRIDGE_PRELOADED_TRACE=${_preloaded}")
set_tests_properties(capture.libtorch capture.preload_run capture.preload PROPERTIES LABELS capture TIMEOUT 300)

# halfbridge_capture.py itself, where a Python with torch is installed; skipped, visibly, where not.
set(_python python3)
if(HALFBRIDGE_PYTHON)  # see interop.cmake
  set(_python ${HALFBRIDGE_PYTHON})
endif()
add_test(NAME capture.python COMMAND ${_python} ${CMAKE_CURRENT_SOURCE_DIR}/capture/python_test.py)
set_tests_properties(capture.python PROPERTIES LABELS capture TIMEOUT 300 SKIP_RETURN_CODE 77)
