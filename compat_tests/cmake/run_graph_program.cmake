# Runs the Halfbridge build of one training program as it is and with its training step captured, and compares what
# they leave: losses, weights and buffers have to be the same bytes.
separate_arguments(arguments UNIX_COMMAND "${ARGUMENTS}")
foreach(captured IN ITEMS 0 1)
  set(file ${OUT}/${TEST}.${captured})
  file(REMOVE ${file}.json ${file}.safetensors)
  execute_process(
    COMMAND ${PROGRAM} --steps ${STEPS} --data ${DATA} --out ${file}.json --captured ${captured} ${arguments}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${TEST} with --captured ${captured} ended with: ${status}")
  endif()
endforeach()
if(NOT output MATCHES "replayed ([0-9]+) of")
  message(FATAL_ERROR "${TEST}: expected a line that says how often the step was replayed")
endif()
math(EXPR least "${STEPS} / 3")
if(CMAKE_MATCH_1 LESS least)
  message(FATAL_ERROR "${TEST}: expected ${least} replays or more, got ${CMAKE_MATCH_1}")
endif()
foreach(kind IN ITEMS json safetensors)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUT}/${TEST}.0.${kind} ${OUT}/${TEST}.1.${kind}
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${TEST}: captured steps left another ${kind} file")
  endif()
endforeach()
