#pragma once
#include <ATen/core/ivalue.h>
#include <halfbridge/bridge/serialize.h>
#include <torch/types.h>

namespace torch {
using hb::bridge::load;
using hb::bridge::pickle_load;
using hb::bridge::pickle_save;
using hb::bridge::save;
}  // namespace torch
namespace torch::serialize {
using namespace hb::bridge::serialize;
}
