#pragma once
// TORCH_ERROR_CODE_CHECK(call): throws where a function of C's returns another code than success.

#include <stdexcept>
#include <string>

#define TORCH_SUCCESS 0
#define TORCH_FAILURE 1
#define TORCH_ERROR_CODE_CHECK(call)                                                                          \
  if ((call) != TORCH_SUCCESS) {                                                                              \
    throw ::std::runtime_error(#call " API call failed at " __FILE__ ", line " + ::std::to_string(__LINE__)); \
  }
