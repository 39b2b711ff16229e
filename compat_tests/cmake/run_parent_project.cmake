# Configures the project that takes Halfbridge in as a part of itself, and compiles its own file.
file(REMOVE_RECURSE ${PLACE})
file(COPY ${PROJECT}/ DESTINATION ${PLACE})
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${PLACE} -B ${PLACE}/build -DWAY=${WAY} -DSOURCE=${SOURCE}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${PLACE}/build --target program COMMAND_ERROR_IS_FATAL ANY)
if(BUILD_ALL)  # by hand: takes as long as a build of the library
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${PLACE}/build COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${PLACE}/build/parent-app COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE_RECURSE ${PLACE})
