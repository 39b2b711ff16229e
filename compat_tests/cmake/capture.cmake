# Traces of the reference.
# halfbridge_capture.py itself, where a Python with torch is installed; skipped, visibly, where not.
set(_python python3)
if(HALFBRIDGE_PYTHON)  # see interop.cmake
  set(_python ${HALFBRIDGE_PYTHON})
endif()
add_test(NAME capture.python COMMAND ${_python} ${CMAKE_CURRENT_SOURCE_DIR}/capture/python_test.py)
set_tests_properties(capture.python PROPERTIES LABELS capture TIMEOUT 300 SKIP_RETURN_CODE 77)
