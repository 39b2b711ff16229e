#pragma once
#include <ATen/TensorIterator.h>
#include <ATen/cpu/vec/vec.h>
#include <halfbridge/bridge/cpu_loops.h>

namespace at::native {
using hb::bridge::loops::cpu_kernel;
using hb::bridge::loops::cpu_kernel_multiple_outputs;
using hb::bridge::loops::cpu_kernel_vec;
using hb::bridge::loops::cpu_serial_kernel;
}  // namespace at::native
