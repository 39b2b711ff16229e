# halfbridge_as_one(OUT FILE INCLUDED...): sets OUT to the file FILE of the build folder, which is all of INCLUDED, as a #include
# line finds them. Names in them must differ. No path of this checkout is in it: a compiler's cache serves other checkouts.
function(halfbridge_as_one out file)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE lines)
  string(CONCAT text ${lines})
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${file} CONTENT "${text}" @ONLY)
  set(${out} ${CMAKE_CURRENT_BINARY_DIR}/${file} PARENT_SCOPE)
endfunction()
