#pragma once
// DistributedDataParallel and what goes with it. LibTorch has no such header.
#include <halfbridge/bridge/distributed.h>
#include <torch/nn.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/optim.h>
