#pragma once
// Tensors as arguments and results of functions that PYBIND11_MODULE gives to Python, where the headers of Python and
// pybind11 are on the include path; without them a program builds as long as it defines no such module.
#include <torch/types.h>

#if defined(__has_include)
#if __has_include(<Python.h>) && __has_include(<pybind11/pybind11.h>)
#define HB_HAS_PYBIND11 1
#endif
#endif

#ifdef HB_HAS_PYBIND11
#include <halfbridge/bridge/python.h>
namespace py = pybind11;
#elif !defined(PYBIND11_MODULE)
#define PYBIND11_MODULE(name, variable)                                                             \
  static_assert(false,                                                                              \
                "PYBIND11_MODULE needs the headers of Python and of pybind11 on the include path: " \
                "neither LibTorch nor Halfbridge builds a Python module without Python");           \
  template <class HbModule>                                                                         \
  void hb_no_python_module_##name([[maybe_unused]] HbModule& variable)
#endif
