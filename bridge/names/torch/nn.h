#pragma once
#include <halfbridge/bridge/nn.h>
#include <halfbridge/bridge/nn/functional_detail.h>
#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/ordered_dict.h>

namespace torch::nn {
using namespace hb::bridge::nn::modules;
namespace detail {
using namespace hb::bridge::nn::detail;
}
namespace functional {
using namespace hb::bridge::nn::functional;
}
namespace init {
using namespace hb::bridge::nn::init;
}
namespace utils {
using namespace hb::bridge::nn::utils::functions;
namespace rnn {
using namespace hb::bridge::nn::utils::rnn;
}
}  // namespace utils
}  // namespace torch::nn

#define TORCH_UNUSED_EXCEPT_CUDA [[maybe_unused]]
#define TORCH_MODULE_IMPL(Name, ImplType) HB_MODULE_IMPL(Name, ImplType)
#define TORCH_MODULE(Name) HB_MODULE_IMPL(Name, Name##Impl)
#define FORWARD_HAS_DEFAULT_ARGS(...) HB_FORWARD_HAS_DEFAULT_ARGS(__VA_ARGS__)
