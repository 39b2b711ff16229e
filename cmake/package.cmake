# The Debian package that `./dev package` makes by cpack. Its libraries are Debian's; the relocatable archive brings its own
# (tools/package_libraries.sh).
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME halfbridge)
set(CPACK_PACKAGE_VENDOR "Halfbridge")
set(CPACK_PACKAGE_CONTACT "The maintainers of Halfbridge <maintainers@halfbridge.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Mixed-precision tensor engine with LibTorch's C++ API")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Opened by name while it runs, so that no file names it as a library that it needs.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libopenblas0-pthread | libopenblas0 | liblapack3")
# It brings another find_package(Torch).
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "libtorch-dev")
include(CPack)
