# A stranger's projects, outside the build tree, against an install tree that has been moved after it was made.
set(_projects torch_program hb_program sanitized_program wrong_component)
if(HALFBRIDGE_SANITIZE)
  list(TRANSFORM _projects PREPEND install. OUTPUT_VARIABLE _tests)
  halfbridge_not_sanitized("a library with sanitizers needs programs with them" install.make_tree ${_tests})
else()
  foreach(project ${_projects})
    add_test(NAME install.${project}
      COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DPROJECT=${CMAKE_CURRENT_SOURCE_DIR}/install/${project}
        -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree "-DGENERATOR=${CMAKE_GENERATOR}"
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_install.cmake)
    set_tests_properties(install.${project} PROPERTIES LABELS install TIMEOUT 600 FIXTURES_REQUIRED install_tree)
  endforeach()
  set_tests_properties(install.wrong_component PROPERTIES PASS_REGULAR_EXPRESSION "has no component 'no_such_part'")
  # Sanitizers' leak check dies of threads that oneDNN computed on, unless this is off.
  set_tests_properties(install.sanitized_program PROPERTIES ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0)
  add_test(NAME install.make_tree
    COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/make_install_tree.cmake)
  set_tests_properties(install.make_tree PROPERTIES LABELS install FIXTURES_SETUP install_tree)
endif()
