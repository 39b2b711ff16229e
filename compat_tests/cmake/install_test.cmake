# A stranger's projects, outside the build tree, against an install tree that has been moved after it was made.
set(_projects torch_program hb_program ranks_program sanitized_program wrong_component)
find_program(HALFBRIDGE_NVCC nvcc HINTS /usr/local/cuda/bin)
if(HALFBRIDGE_NVCC)
  list(APPEND _projects cuda_program)
endif()
if(HALFBRIDGE_SANITIZE)
  list(TRANSFORM _projects PREPEND install. OUTPUT_VARIABLE _tests)
  halfbridge_not_sanitized("a library with sanitizers needs programs with them" install.make_tree ${_tests})
else()
  foreach(project ${_projects})
    add_test(NAME install.${project}
      COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DPROJECT=${CMAKE_CURRENT_SOURCE_DIR}/install/${project}
        -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree "-DGENERATOR=${CMAKE_GENERATOR}"
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_install.cmake)
    set_tests_properties(install.${project} PROPERTIES LABELS install TIMEOUT 600 FIXTURES_REQUIRED install_tree)
  endforeach()
  set_tests_properties(install.wrong_component PROPERTIES PASS_REGULAR_EXPRESSION "has no component 'no_such_part'")
  if(HALFBRIDGE_NVCC)
    set_tests_properties(install.cuda_program PROPERTIES ENVIRONMENT CUDACXX=${HALFBRIDGE_NVCC})
  endif()
  # Sanitizers' leak check dies of threads that oneDNN computed on, unless this is off.
  set_tests_properties(install.sanitized_program PROPERTIES ENVIRONMENT ASAN_OPTIONS=intercept_tls_get_addr=0)
  add_test(NAME install.make_tree
    COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/make_install_tree.cmake)
  set_tests_properties(install.make_tree PROPERTIES LABELS install FIXTURES_SETUP install_tree)

  # The same program with <torch/torch.h> as a precompiled header.
  add_test(NAME install.precompiled
    COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}/precompiled -DPROJECT=${CMAKE_CURRENT_SOURCE_DIR}/install/torch_program
      -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree "-DGENERATOR=${CMAKE_GENERATOR}" -DPRECOMPILED=ON
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_install.cmake)
  add_test(NAME install.pkg_config
    COMMAND ${CMAKE_COMMAND} -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE} -DCOMPILER=${CMAKE_CXX_COMPILER} -DVERSION=${PROJECT_VERSION}
      -DPROJECTS=${CMAKE_CURRENT_SOURCE_DIR}/install -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree
      -DPLACE=${CMAKE_CURRENT_BINARY_DIR}/pkg-config -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_pkg_config.cmake)
  set_tests_properties(install.precompiled install.pkg_config PROPERTIES LABELS install TIMEOUT 600
                       FIXTURES_REQUIRED install_tree)
  find_program(HALFBRIDGE_MAKE make)
  if(HALFBRIDGE_MAKE)
    add_test(NAME install.makefile
      COMMAND ${CMAKE_COMMAND} -DMAKE=${HALFBRIDGE_MAKE} -DCOMPILER=${CMAKE_CXX_COMPILER}
        -DPROJECTS=${CMAKE_CURRENT_SOURCE_DIR}/install -DTREE=${CMAKE_CURRENT_BINARY_DIR}/install-tree
        -DPLACE=${CMAKE_CURRENT_BINARY_DIR}/makefile -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_makefile.cmake)
    set_tests_properties(install.makefile PROPERTIES LABELS install TIMEOUT 600 FIXTURES_REQUIRED install_tree)
  endif()
endif()

# As a part of another project.
foreach(way subdirectory fetched)
  add_test(NAME install.${way}
    COMMAND ${CMAKE_COMMAND} -DPROJECT=${CMAKE_CURRENT_SOURCE_DIR}/install/parent_project -DWAY=${way}
      -DSOURCE=${PROJECT_SOURCE_DIR} -DPLACE=${CMAKE_CURRENT_BINARY_DIR}/parent-${way} "-DGENERATOR=${CMAKE_GENERATOR}"
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/run_parent_project.cmake)
  set_tests_properties(install.${way} PROPERTIES LABELS install TIMEOUT 600)
endforeach()

# Compilers and machines that cannot build it: one line that says so.
function(halfbridge_refused name system processor compiler version expected)
  add_test(NAME install.refused_${name}
    COMMAND ${CMAKE_COMMAND} -DCMAKE_SYSTEM_NAME=${system} -DCMAKE_SYSTEM_PROCESSOR=${processor} -DCMAKE_SIZEOF_VOID_P=8
      -DCMAKE_CXX_COMPILER_ID=${compiler} -DCMAKE_CXX_COMPILER_VERSION=${version} -DPROJECT_VERSION=${PROJECT_VERSION}
      -P ${PROJECT_SOURCE_DIR}/cmake/platform.cmake)
  set_tests_properties(install.refused_${name} PROPERTIES LABELS install PASS_REGULAR_EXPRESSION "${expected}")
endfunction()
halfbridge_refused(compiler Linux x86_64 Clang 14.0.6 "Halfbridge is built by GCC 11 or later, got Clang 14.0.6")
halfbridge_refused(old_compiler Linux x86_64 GNU 10.2.1 "Halfbridge is built by GCC 11 or later, got GNU 10.2.1")
halfbridge_refused(cpu Linux aarch64 GNU 12.2 "Halfbridge needs Linux on x86-64, got Linux on aarch64")
halfbridge_refused(system Darwin x86_64 GNU 12.2 "Halfbridge needs Linux on x86-64, got Darwin on x86_64")
