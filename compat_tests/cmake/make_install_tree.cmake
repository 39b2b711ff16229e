# Installs, then moves the tree: nothing in it may know where it stood.
file(REMOVE_RECURSE ${TREE} ${TREE}-first)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${TREE}-first OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${TREE}-first --component engines OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${TREE}-first ${TREE})
execute_process(COMMAND grep -rlF ${BUILD} ${TREE}/share ${TREE}/include OUTPUT_VARIABLE found)
if(found)
  message(FATAL_ERROR "the build folder's path stands in the install tree:\n${found}")
endif()
