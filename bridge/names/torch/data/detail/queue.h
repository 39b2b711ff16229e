#pragma once
#include <halfbridge/bridge/data/data_shuttle.h>
#include <torch/types.h>

namespace torch::data::detail {
using hb::bridge::data::detail::DataShuttle;
using hb::bridge::data::detail::Queue;
namespace sequencers {
using namespace hb::bridge::data::detail::sequencers;
}
}  // namespace torch::data::detail
