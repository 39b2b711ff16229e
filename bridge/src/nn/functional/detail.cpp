#include <halfbridge/bridge/nn/functional_detail.h>

namespace hb::bridge::nn::functional::detail {

#define HB_DEFAULT(value)
#define HB_FUNCTIONAL_DETAIL(result, name, params, ...) \
  result name params { return functional::__VA_ARGS__; }
#include <halfbridge/bridge/nn/functional_detail.def>

}  // namespace hb::bridge::nn::functional::detail
