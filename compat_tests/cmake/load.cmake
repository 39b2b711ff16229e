# The library loaded by a program that was not linked with it. Its thread-local variables take room that the C library sets
# aside for all libraries so loaded; here without the part that is there for others.
if(HALFBRIDGE_SANITIZE)
  halfbridge_not_sanitized("their run time changes the room that is tested" unit.load)
else()
  add_executable(load_program ${CMAKE_CURRENT_SOURCE_DIR}/load/program.cpp)
  target_link_libraries(load_program PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(load_program halfbridge)
  add_test(NAME unit.load COMMAND load_program $<TARGET_FILE:halfbridge>)
  set_tests_properties(unit.load PROPERTIES LABELS unit ENVIRONMENT GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0)
endif()
