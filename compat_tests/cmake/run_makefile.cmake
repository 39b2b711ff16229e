# Builds a program by a Makefile that names the tree's folders as it would LibTorch's, and runs it.
file(REMOVE_RECURSE ${PLACE})
file(MAKE_DIRECTORY ${PLACE})
file(GLOB sources ${PROJECTS}/torch_program/*.cpp)
file(COPY ${sources} ${PROJECTS}/make_program/Makefile DESTINATION ${PLACE})
execute_process(COMMAND ${MAKE} LIBTORCH=${TREE} CXX=${COMPILER} app WORKING_DIRECTORY ${PLACE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ./app WORKING_DIRECTORY ${PLACE} COMMAND_ERROR_IS_FATAL ANY)

# LibTorch's own headers of the longer path come first, where a program has them.
file(WRITE ${PLACE}/other/torch/csrc/api/include/torch/types.h "#define OTHER_TYPES 1\n")
file(WRITE ${PLACE}/other.cpp "#include <torch/csrc/api/include/torch/types.h>\nstatic_assert(OTHER_TYPES);\n")
execute_process(COMMAND ${COMPILER} -std=c++17 -fsyntax-only -I${TREE}/include -I${PLACE}/other ${PLACE}/other.cpp
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${PLACE})
