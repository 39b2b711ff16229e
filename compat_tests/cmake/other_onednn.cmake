# The library once more with the oneDNN of HALFBRIDGE_OTHER_ONEDNN (a folder with include and lib), for the parity of what
# oneDNN computes: other_onednn.<family>. Only the files that call oneDNN are compiled anew.
set(HALFBRIDGE_OTHER_ONEDNN "" CACHE PATH "A second oneDNN to test with, beside the one that the library is built with")
if(NOT HALFBRIDGE_OTHER_ONEDNN)
  message(STATUS "Halfbridge: one version of oneDNN is tested; for another set HALFBRIDGE_OTHER_ONEDNN")
  return()
endif()
set(_lib ${HALFBRIDGE_OTHER_ONEDNN}/lib/libdnnl.so)
set(_folder ${CMAKE_BINARY_DIR}/other_onednn)

file(GLOB _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/onednn/*.cpp)
add_library(other_onednn_calls OBJECT ${_sources})
halfbridge_build_settings(other_onednn_calls)
target_include_directories(other_onednn_calls BEFORE PRIVATE ${HALFBRIDGE_OTHER_ONEDNN}/include)
target_compile_definitions(other_onednn_calls PRIVATE HB_ONEDNN_SCOPE="$<TARGET_FILE_NAME:halfbridge_onednn>")

set(_objects "")
foreach(layer IN LISTS HALFBRIDGE_LAYERS)
  list(APPEND _objects $<FILTER:$<TARGET_OBJECTS:halfbridge_${layer}>,EXCLUDE,/src/cpu/onednn/>)
endforeach()
add_library(other_onednn SHARED ${_objects} ${HALFBRIDGE_ISA_OBJECTS} $<TARGET_OBJECTS:other_onednn_calls>)
target_link_libraries(other_onednn PRIVATE ${HALFBRIDGE_LIBRARIES})
set_target_properties(other_onednn PROPERTIES LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${_folder}
                      OUTPUT_NAME halfbridge VERSION ${PROJECT_VERSION} SOVERSION 0)
add_library(other_onednn_scope MODULE ${PROJECT_SOURCE_DIR}/src/cpu/onednn/scope/keep_alive.cpp)
target_link_options(other_onednn_scope PRIVATE -Wl,--no-as-needed)
target_link_libraries(other_onednn_scope PRIVATE ${_lib})
set_target_properties(other_onednn_scope PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${_folder} OUTPUT_NAME halfbridge_onednn)

foreach(family matrix_products products linear_systems conv convolution module_conv module_linear module_rnn complex)
  if(TEST parity.${family})
    add_test(NAME other_onednn.${family}
      COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${_folder}:${HALFBRIDGE_OTHER_ONEDNN}/lib ${CMAKE_COMMAND}
        -DLIBTORCH=$<TARGET_FILE:parity_libtorch> -DHALFBRIDGE=$<TARGET_FILE:parity_halfbridge>
        -DCOMPARE=$<TARGET_FILE:parity_compare> -DFAMILY=${family} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/other_onednn
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_parity.cmake)
    set_tests_properties(other_onednn.${family} PROPERTIES LABELS parity TIMEOUT 600)
  endif()
endforeach()
add_test(NAME other_onednn.version COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${_folder}:${HALFBRIDGE_OTHER_ONEDNN}/lib
         $<TARGET_FILE:halfbridge_cli> info)
file(STRINGS ${HALFBRIDGE_OTHER_ONEDNN}/include/oneapi/dnnl/dnnl_version.h _version REGEX "define DNNL_VERSION_MAJOR")
string(REGEX MATCH "[0-9]+" _version "${_version}")
set_tests_properties(other_onednn.version PROPERTIES PASS_REGULAR_EXPRESSION "oneDNN[^\n]* ${_version}\\.")
