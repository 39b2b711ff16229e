#pragma once
#include <fstream>  // programs get it from LibTorch's header without asking for it

#include <ATen/core/class_type.h>
#include <torch/autograd.h>
#include <torch/csrc/jit/serialization/pickle.h>
#include <torch/custom_class.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/std_includes.h>
#include <torch/types.h>
