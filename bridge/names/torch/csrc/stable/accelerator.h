#pragma once
#include <halfbridge/bridge/stable/accelerator.h>
#include <torch/csrc/stable/tensor.h>
