# Tests that cannot run with sanitizers are listed as not run.
function(halfbridge_not_sanitized reason)
  foreach(name IN LISTS ARGN)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "not run: ${reason}")
    set_tests_properties(${name} PROPERTIES DISABLED TRUE)
  endforeach()
endfunction()

# Settings of all tests of this folder.
function(halfbridge_sanitized_tests)
  get_property(_tests DIRECTORY PROPERTY TESTS)
  if(HALFBRIDGE_SANITIZE STREQUAL "thread")
    set_property(TEST ${_tests} APPEND PROPERTY
                 ENVIRONMENT_MODIFICATION "TSAN_OPTIONS=set:suppressions=${PROJECT_SOURCE_DIR}/unit_tests/tsan.supp")
  elseif(HALFBRIDGE_SANITIZE)
    # The leak check dies of threads that oneDNN computed on, unless this is off. Too large blocks are to be refused.
    set_property(TEST ${_tests} APPEND PROPERTY ENVIRONMENT_MODIFICATION
                 ASAN_OPTIONS=path_list_append:intercept_tls_get_addr=0 ASAN_OPTIONS=path_list_append:allocator_may_return_null=1)
  endif()
endfunction()
