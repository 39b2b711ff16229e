#pragma once
#include <torch/types.h>
#if __has_include(<halfbridge/bridge/serialize.h>)
#include <halfbridge/bridge/serialize.h>

namespace torch {
using hb::bridge::load;
using hb::bridge::save;
}  // namespace torch
namespace torch::serialize {
using namespace hb::bridge::serialize;
}
#endif
