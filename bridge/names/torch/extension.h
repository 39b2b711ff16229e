#pragma once
// LibTorch's header for extensions of Python. The C++ side is all here. <torch/python.h> is the other side, which needs
// the headers of Python and pybind11 as LibTorch's does.
#include <torch/all.h>
#include <torch/python.h>
