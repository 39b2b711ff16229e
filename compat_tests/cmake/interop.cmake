# Files that one library writes and the other reads, and each with its own: interop.<writer>_to_<reader>.
file(GLOB _interop_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/interop/*.cpp)
halfbridge_as_one(_interop as_one/interop.cpp ${_interop_files})
halfbridge_two_builds_of_test(exchange ${_interop})
foreach(library libtorch halfbridge)
  target_include_directories(exchange_${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set(_folder ${CMAKE_CURRENT_BINARY_DIR}/interop/${library})
  file(MAKE_DIRECTORY ${_folder})
  add_test(NAME interop.${library}_writes COMMAND exchange_${library} write ${_folder})
  set_tests_properties(interop.${library}_writes PROPERTIES LABELS interop TIMEOUT 300 FIXTURES_SETUP interop_${library})
  foreach(reader libtorch halfbridge)
    add_test(NAME interop.${library}_to_${reader} COMMAND exchange_${reader} read ${_folder})
    set_tests_properties(interop.${library}_to_${reader} PROPERTIES LABELS interop TIMEOUT 300
                         FIXTURES_REQUIRED interop_${library})
  endforeach()
endforeach()

# The same files after `halfbridge checkpoint convert` to another format and back.
if(TARGET halfbridge_cli)
  foreach(via torch safetensors)
    add_test(NAME interop.converted_by_${via}
      COMMAND ${CMAKE_COMMAND} -DCLI=$<TARGET_FILE:halfbridge_cli> -DREADER=$<TARGET_FILE:exchange_libtorch> -DVIA=${via}
        -DFROM=${CMAKE_CURRENT_BINARY_DIR}/interop/libtorch -DOUT=${CMAKE_CURRENT_BINARY_DIR}/interop/by_${via}
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_convert.cmake)
    set_tests_properties(interop.converted_by_${via} PROPERTIES LABELS interop TIMEOUT 300 FIXTURES_REQUIRED interop_libtorch)
  endforeach()

  # Python's PyTorch in both directions, where there is one; else the tests are skipped.
  find_package(Python3 COMPONENTS Interpreter)
  set(HALFBRIDGE_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "Python with PyTorch 2.11 for the tests interop.python_*")
  if(HALFBRIDGE_PYTHON)
    foreach(part formats optimizers modules)
      add_test(NAME interop.python_${part}
        COMMAND ${HALFBRIDGE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/interop/python_files.py ${part}
          $<TARGET_FILE:halfbridge_cli> ${CMAKE_CURRENT_BINARY_DIR}/interop/python_${part})
      set_tests_properties(interop.python_${part} PROPERTIES LABELS interop TIMEOUT 300 SKIP_RETURN_CODE 77)
    endforeach()
  endif()
endif()
