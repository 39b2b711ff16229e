#pragma once
#include <halfbridge/bridge/optim/optim.h>
#include <torch/arg.h>
#include <torch/serialize.h>
#include <torch/types.h>

namespace torch::optim {
using namespace hb::bridge::optim;
}

#include <torch/optim/serialize.h>
