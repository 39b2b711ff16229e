# Halfbridge's own unit tests: unit/*.cpp in one GoogleTest program; the test unit.<file> runs the suites of that file.
find_package(GTest REQUIRED)
file(GLOB _unit_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/unit/*.cpp)
if(NOT HALFBRIDGE_CLI)
  list(FILTER _unit_files EXCLUDE REGEX "/(port|amp_report|diff_[a-z_]+)\\.cpp$")
endif()
if(_unit_files)
  add_executable(unit_tests ${_unit_files})
  target_link_libraries(unit_tests PRIVATE halfbridge_torch GTest::gtest_main ZLIB::ZLIB)
  if(HALFBRIDGE_CLI)
    target_link_libraries(unit_tests PRIVATE halfbridge_port halfbridge_diff halfbridge_amp_report)
    add_dependencies(unit_tests halfbridge_cli)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/diff_program.cpp ${CMAKE_CURRENT_SOURCE_DIR}/unit/amp_report.cpp
                 PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_PROGRAM="$<TARGET_FILE:halfbridge_cli>")
  endif()
  target_compile_definitions(unit_tests PRIVATE HALFBRIDGE_TEST_DATA="${PROJECT_SOURCE_DIR}/data")
  # The page of a comparison is looked at in a browser where there is one.
  find_program(HALFBRIDGE_BROWSER NAMES chromium chromium-browser google-chrome)
  if(HALFBRIDGE_BROWSER)
    set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/diff_html.cpp
                 PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_BROWSER="${HALFBRIDGE_BROWSER}")
  endif()
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/io_python_files.cpp ${CMAKE_CURRENT_SOURCE_DIR}/unit/io_script.cpp
               ${CMAKE_CURRENT_SOURCE_DIR}/unit/io_limits.cpp
               PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_RECORDED_FILES="${CMAKE_CURRENT_SOURCE_DIR}/unit/python_files")
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/optim_recorded.cpp
                      ${CMAKE_CURRENT_SOURCE_DIR}/unit/optim_recorded_schedulers.cpp
               PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_RECORDED_FILES="${CMAKE_CURRENT_SOURCE_DIR}/unit/recorded_optim")
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/amp_recorded.cpp
               PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_RECORDED_FILES="${CMAKE_CURRENT_SOURCE_DIR}/unit/recorded_amp")
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/autocast_parity.cpp
               PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_AUTOCAST_RECORDS="${CMAKE_CURRENT_SOURCE_DIR}/amp")
  add_executable(trace_program ${CMAKE_CURRENT_SOURCE_DIR}/trace/program.cpp)
  target_link_libraries(trace_program PRIVATE halfbridge_torch)
  add_dependencies(unit_tests trace_program)
  set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/unit/trace_environment.cpp ${CMAKE_CURRENT_SOURCE_DIR}/unit/amp_report.cpp
               APPEND PROPERTY COMPILE_DEFINITIONS HALFBRIDGE_TRACE_PROGRAM="$<TARGET_FILE:trace_program>")
  foreach(file IN LISTS _unit_files)
    get_filename_component(name ${file} NAME_WE)
    file(STRINGS ${file} _tests REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST)\\(")
    set(_suites "")
    foreach(line IN LISTS _tests)
      string(REGEX REPLACE "^[A-Z_]+\\( *([A-Za-z0-9_]+) *,.*" "\\1" suite "${line}")
      list(APPEND _suites "${suite}.*:*/${suite}.*:${suite}/*")
    endforeach()
    list(REMOVE_DUPLICATES _suites)
    list(JOIN _suites ":" _filter)
    if(_filter)
      add_test(NAME unit.${name} COMMAND unit_tests --gtest_brief=1 "--gtest_filter=${_filter}")
      set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
    endif()
  endforeach()
  # Its tests need the variable that they test; without it they are skipped.
  set_tests_properties(unit.amp_environment PROPERTIES ENVIRONMENT HALFBRIDGE_AMP=O1:fp16)
endif()

# docs/mixed-precision.md lists the classes that functions declare.
add_executable(autocast_classes ${PROJECT_SOURCE_DIR}/tools/autocast/classes.cpp)
target_link_libraries(autocast_classes PRIVATE halfbridge)
add_test(NAME docs.mixed_precision COMMAND autocast_classes --check ${PROJECT_SOURCE_DIR}/docs/mixed-precision.md)
set_tests_properties(docs.mixed_precision PROPERTIES LABELS unit)
