#include <halfbridge/amp/cast_list.h>

#include <algorithm>

#include <halfbridge/autocast.h>
#include <halfbridge/bridge/nn.h>

namespace hb::amp {

namespace nn = bridge::nn;

namespace {
void check_known(const std::string& function) {
  const auto all = hb::autocast::ops();
  if (std::any_of(all.begin(), all.end(), [&](const auto& entry) { return function == entry.name; })) return;
  throw ValueError(
      "[mixed_precision_list] expected a function of the table of classes (docs/mixed-precision.md), got '" + function +
      "'");
}

enum class Precision { as_is, half, single };
template <Precision wanted>
CastList modules_of() {
  CastList list;
#define HB_LAYER(module, kind, forward, precision, ...) \
  if constexpr (Precision::precision == wanted) list.add<nn::module>();
#include <halfbridge/bridge/nn/table/modules.def>
  return list;
}
}  // namespace

CastList& CastList::add(const std::string& function) {
  check_known(function);
  functions_.insert(function);
  return *this;
}
CastList& CastList::remove(const std::string& function) {
  check_known(function);
  functions_.erase(function);
  return *this;
}

CastList batch_norms() { return CastList().add<nn::BatchNorm1d, nn::BatchNorm2d, nn::BatchNorm3d>(); }

CastList get_white_list() {
  CastList list = modules_of<Precision::half>();
  for (const auto& entry : hb::autocast::ops())
    if (entry.cuda == hb::autocast::OpClass::half) list.add(entry.name);
  return list;
}

CastList get_black_list() {
  CastList list = modules_of<Precision::single>();
  for (const char* function : {"layer_norm", "native_layer_norm", "group_norm", "cross_entropy_loss", "nll_loss",
                               "nll_loss2d", "mse_loss", "l1_loss", "binary_cross_entropy",
                               "binary_cross_entropy_with_logits", "kl_div", "smooth_l1_loss", "huber_loss"})
    list.add(function);
  return list;
}

}  // namespace hb::amp
