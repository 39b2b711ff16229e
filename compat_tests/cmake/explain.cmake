# Verdicts, causes and repro bundles of halfbridge diff: explain/*.cpp in one GoogleTest program. The bundles that it writes are
# built and run with both libraries.
find_package(GTest REQUIRED)
find_package(nlohmann_json REQUIRED)
file(GLOB _explain_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/explain/*.cpp)
add_executable(explain_tests ${_explain_files})
target_include_directories(explain_tests PRIVATE ${PROJECT_SOURCE_DIR}/diff/src ${PROJECT_SOURCE_DIR}/unit_tests)
target_link_libraries(explain_tests PRIVATE halfbridge_diff halfbridge_torch GTest::gtest_main nlohmann_json::nlohmann_json)
halfbridge_unit_target(explain_tests)
set(_bundles ${CMAKE_CURRENT_BINARY_DIR}/bundles)
add_test(NAME diff.explain COMMAND explain_tests --gtest_brief=1)
set_tests_properties(diff.explain PROPERTIES LABELS diff TIMEOUT 900 ENVIRONMENT "HALFBRIDGE_BUNDLES=${_bundles};OMP_WAIT_POLICY=passive"
                     FIXTURES_SETUP bundles)
if(HALFBRIDGE_SANITIZE)
  halfbridge_not_sanitized("a library with sanitizers needs programs with them" diff.bundle_libtorch diff.bundle_halfbridge)
else()
  foreach(library libtorch halfbridge)
    add_test(NAME diff.bundle_${library}
      COMMAND ${CMAKE_COMMAND} -DLIBRARY=${library} -DBUNDLES=${_bundles} -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree
        -DLIBTORCH=${HALFBRIDGE_LIBTORCH} "-DGENERATOR=${CMAKE_GENERATOR}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_bundles.cmake)
    set_tests_properties(diff.bundle_${library} PROPERTIES LABELS diff TIMEOUT 900)
  endforeach()
  set_tests_properties(diff.bundle_libtorch PROPERTIES FIXTURES_REQUIRED bundles)
  set_tests_properties(diff.bundle_halfbridge PROPERTIES FIXTURES_REQUIRED "bundles;install_tree")
endif()
