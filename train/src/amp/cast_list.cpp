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
  auto list = CastList()
                  .add<nn::Linear, nn::Bilinear, nn::Conv1d, nn::Conv2d, nn::Conv3d>()
                  .add<nn::ConvTranspose1d, nn::ConvTranspose2d, nn::ConvTranspose3d>()
                  .add<nn::RNN, nn::LSTM, nn::GRU, nn::RNNCell, nn::LSTMCell, nn::GRUCell, nn::MultiheadAttention>();
  for (const auto& entry : hb::autocast::ops())
    if (entry.cuda == hb::autocast::OpClass::half) list.add(entry.name);
  return list;
}

CastList get_black_list() {
  auto list =
      batch_norms()
          .add<nn::InstanceNorm1d, nn::InstanceNorm2d, nn::InstanceNorm3d, nn::LayerNorm, nn::GroupNorm>()
          .add<nn::LocalResponseNorm, nn::CrossMapLRN2d, nn::CrossEntropyLoss, nn::NLLLoss, nn::MSELoss>()
          .add<nn::L1Loss, nn::BCELoss, nn::BCEWithLogitsLoss, nn::KLDivLoss, nn::SmoothL1Loss, nn::HuberLoss>();
  for (const char* function : {"layer_norm", "native_layer_norm", "group_norm", "cross_entropy_loss", "nll_loss",
                               "nll_loss2d", "mse_loss", "l1_loss", "binary_cross_entropy",
                               "binary_cross_entropy_with_logits", "kl_div", "smooth_l1_loss", "huber_loss"})
    list.add(function);
  return list;
}

}  // namespace hb::amp
