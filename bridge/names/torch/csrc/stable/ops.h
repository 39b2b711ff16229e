#pragma once
#include <halfbridge/bridge/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
