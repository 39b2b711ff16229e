# Compiles several files of cases as one. What a file of LibTorch's side costs is nearly the same for an empty one, 5 of 9 s:
# templates that LibTorch's headers left to be instantiated, in each file again.
#
# halfbridge_group_cases(OUT FILE...): sets OUT to the files to compile. Each file of a group is in a namespace of its own, with
# its macros undefined after it. A file that opens a namespace, registers something or has definitions of its own stays alone. The
# group is chosen by the file's name, so that a new file changes one group. No path of this checkout is in what is compiled: a
# compiler's cache serves other checkouts with it.
function(halfbridge_group_cases out)
  file(GLOB headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/parity/*.h)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  set(sources "")
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} alone REGEX "^#include \"\\.|^(TORCH|STABLE)_|^namespace [a-z_]+ {|^template <>|^extern " LIMIT_COUNT 1)
    get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
    if(alone OR definitions)
      list(APPEND sources ${file})
      continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})  # its #include and #define lines are copied
    get_filename_component(name ${file} NAME_WE)
    string(MD5 group ${name})
    string(SUBSTRING ${group} 0 1 group)
    list(APPEND groups ${group})
    file(STRINGS ${file} includes REGEX "^#include <")
    list(APPEND includes_${group} ${includes})
    string(APPEND text_${group} "namespace of_${name} {\n#include \"parity/${name}.cpp\"\n}\n")
    file(STRINGS ${file} macros REGEX "^#define [A-Za-z_0-9]+")
    foreach(macro IN LISTS macros)
      if(macro MATCHES "^#define ([A-Za-z_0-9]+)")
        string(APPEND text_${group} "#undef ${CMAKE_MATCH_1}\n")
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(includes ${headers} ${includes_${group}})
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes "\n" includes)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/parity_cases/${group}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes}\n${text_${group}}" @ONLY)
    list(APPEND sources ${file})
  endforeach()
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()
