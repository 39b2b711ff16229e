# `halfbridge port` on the small trees of port/: what it prints must be expected.txt of the tree, its exit status 1 if
# something needs an edit.
foreach(tree IN ITEMS classifier cuda deploy distributed extension script styles)
  set(_folder ${CMAKE_CURRENT_SOURCE_DIR}/port/${tree})
  add_test(NAME port.${tree} COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:halfbridge_cli> -DTREE=${_folder}
                                     -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_port.cmake)
  set_tests_properties(port.${tree} PROPERTIES LABELS unit)
endforeach()

# The programs that the suite builds with Halfbridge need no edit.
add_test(NAME port.programs COMMAND halfbridge_cli port ${CMAKE_CURRENT_SOURCE_DIR}/programs)
add_test(NAME port.examples COMMAND halfbridge_cli port ${PROJECT_SOURCE_DIR}/examples)
add_test(NAME port.parity COMMAND halfbridge_cli port ${CMAKE_CURRENT_SOURCE_DIR}/parity)
set_tests_properties(port.programs port.examples port.parity PROPERTIES LABELS unit)

# docs/coverage.md and the table of names are what the headers say.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  add_test(NAME docs.coverage COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/coverage/coverage.py --check)
  set_tests_properties(docs.coverage PROPERTIES LABELS unit ENVIRONMENT CXX=${CMAKE_CXX_COMPILER} TIMEOUT 600)
else()
  message(STATUS "No Python 3: the test docs.coverage is left out")
endif()
