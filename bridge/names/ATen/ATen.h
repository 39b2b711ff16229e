#pragma once
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/Dimname.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/names.h>
#include <c10/util/complex_utils.h>
#include <torch/std_includes.h>
