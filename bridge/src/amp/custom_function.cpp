#include <halfbridge/bridge/amp/custom_function.h>

namespace hb::amp::detail {

namespace {
constexpr const char* kUsed = "_fwd_used_autocast";
constexpr const char* kDtype = "_dtype";
}  // namespace

void remember_autocast(autodiff::AutogradContext* ctx, DeviceType device, bool used) {
  ctx->saved_data[kUsed] = used;
  ctx->saved_data[kDtype] = static_cast<int64_t>(hb::autocast::get_autocast_dtype(device));
}

AutocastGuard recall_autocast(autodiff::AutogradContext* ctx, DeviceType device) {
  const auto used = ctx->saved_data.find(kUsed);
  HB_CHECK(used != ctx->saved_data.end(), "[custom_bwd] expected a forward that runs in custom_fwd, got none");
  return AutocastGuard(device, static_cast<ScalarType>(ctx->saved_data.at(kDtype).toInt()), used->second.toBool());
}

Tensor cast_input(ScalarType dtype, DeviceType device, const Tensor& t) {
  return hb::autocast::is_eligible(t, device) ? t.to(dtype) : t;
}
std::vector<Tensor> cast_input(ScalarType dtype, DeviceType device, const std::vector<Tensor>& list) {
  std::vector<Tensor> out;
  for (const Tensor& t : list) out.push_back(cast_input(dtype, device, t));
  return out;
}

}  // namespace hb::amp::detail
