#include <halfbridge/amp/levels.h>

#include <mutex>
#include <unordered_map>

#include <halfbridge/bridge/nn.h>
#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "half_scope.h"

namespace hb::amp {

namespace nn = bridge::nn;

namespace {

void check_dtype(ScalarType dtype) {
  HB_CHECK(is_half_type(dtype), "[auto_mixed_precision] expected dtype Half or BFloat16, got ", dtype);
}

// Floating tensors in `dtype`; float64 ones and all others as they are.
variable_list cast(const variable_list& tensors, ScalarType dtype) {
  variable_list result;
  for (const Tensor& t : tensors) {
    const bool fits = t.defined() && t.is_floating_point() && t.scalar_type() != kDouble && t.scalar_type() != dtype;
    result.push_back(fits ? t.to(dtype) : t);
  }
  return result;
}

void cast_inputs(nn::Module& module, ScalarType dtype) {
  module.register_forward_pre_hook([dtype](nn::Module&, const variable_list& inputs) { return cast(inputs, dtype); });
}
void cast_outputs(nn::Module& module, ScalarType dtype) {
  module.register_forward_hook(
      [dtype](nn::Module&, const variable_list&, const variable_list& outputs) { return cast(outputs, dtype); });
}
Device device_of(const nn::Module& module) {
  const auto parameters = module.parameters();
  return parameters.empty() ? Device(kCPU) : parameters[0].device();
}
void add_scope(nn::Module& module, ScalarType dtype) {
  module.register_forward_scope(
      [dtype](nn::Module& m) -> std::shared_ptr<void> { return std::make_shared<HalfScope>(device_of(m), dtype); });
}

// Own parameters and buffers of a module to `dtype`, the very tensors that others hold.
void convert(nn::Module& module, ScalarType dtype, FullPrecision* before) {
  NoGradGuard no_grad;
  auto change = [&](const Tensor& t) {
    if (!t.is_floating_point() || t.scalar_type() == kDouble || t.scalar_type() == dtype) return;
    const Tensor old = t.data();
    t.set_data(t.to(dtype));
    if (t.grad().defined()) t.mutable_grad() = t.grad().to(dtype);
    if (before && old.scalar_type() == kFloat) before->emplace_back(t, old);
  };
  for (const Tensor& p : module.parameters(/*recurse=*/false)) change(p);
  for (const Tensor& b : module.buffers(/*recurse=*/false)) {
    if (!b.is_floating_point() || b.scalar_type() == kDouble || b.scalar_type() == dtype) continue;
    b.set_data(b.to(dtype));
  }
}

void apply_white(nn::Module& module, const ModuleTypes& white, ScalarType dtype) {
  if (white.contains(module)) {
    cast_inputs(module, dtype);
    cast_outputs(module, kFloat);
    add_scope(module, dtype);
    return;
  }
  for (const auto& child : module.children()) apply_white(*child, white, dtype);
}

void apply_black(nn::Module& module, const ModuleTypes& black, ScalarType dtype, FullPrecision* before) {
  if (black.contains(module)) {
    cast_inputs(module, kFloat);
    module.register_forward_hook([dtype](nn::Module&, const variable_list&, const variable_list& outputs) {
      variable_list result = cast(outputs, dtype);
      for (size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i].defined() && outputs[i].dim() == 0) result[i] = outputs[i];  // a loss stays in float32
      return result;
    });
    return;
  }
  convert(module, dtype, before);
  if (!module.parameters(/*recurse=*/false).empty()) cast_inputs(module, dtype);
  for (const auto& child : module.children()) apply_black(*child, black, dtype, before);
}

void apply_black_to_network(nn::Module& net, const ModuleTypes& black, ScalarType dtype, FullPrecision* before) {
  apply_black(net, black, dtype, before);
  cast_inputs(net, dtype);
  cast_outputs(net, kFloat);
}

}  // namespace

Level parse_level(const std::string& word) {
  if (word == "O0") return Level::O0;
  if (word == "O1") return Level::O1;
  if (word == "O2") return Level::O2;
  if (word == "O3") return Level::O3;
  if (word == "auto") return Level::automatic;
  throw ValueError("[amp_level] expected O0, O1, O2, O3 or auto, got '" + word + "'");
}

const char* to_string(Level level) {
  constexpr const char* names[] = {"O0", "O1", "O2", "O3", "auto"};
  return names[static_cast<int>(level)];
}

ModuleTypes batch_norms() { return ModuleTypes().add<nn::BatchNorm1d, nn::BatchNorm2d, nn::BatchNorm3d>(); }

ModuleTypes get_white_list() {
  return ModuleTypes()
      .add<nn::Linear, nn::Bilinear, nn::Conv1d, nn::Conv2d, nn::Conv3d>()
      .add<nn::ConvTranspose1d, nn::ConvTranspose2d, nn::ConvTranspose3d>()
      .add<nn::RNN, nn::LSTM, nn::GRU, nn::RNNCell, nn::LSTMCell, nn::GRUCell, nn::MultiheadAttention>();
}

ModuleTypes get_black_list() {
  return batch_norms()
      .add<nn::InstanceNorm1d, nn::InstanceNorm2d, nn::InstanceNorm3d, nn::LayerNorm, nn::GroupNorm>()
      .add<nn::LocalResponseNorm, nn::CrossMapLRN2d, nn::CrossEntropyLoss, nn::NLLLoss, nn::MSELoss, nn::L1Loss>()
      .add<nn::BCELoss, nn::BCEWithLogitsLoss, nn::KLDivLoss, nn::SmoothL1Loss, nn::HuberLoss>();
}

FullPrecision apply_level_keeping(nn::Module& net, Level level, const LevelOptions& options) {
  FullPrecision before;
  const ScalarType dtype = options.dtype();
  if (level != Level::O0) check_dtype(dtype);
  switch (level) {
    case Level::O0:
      break;
    case Level::O1:
      apply_white(net, get_white_list(), dtype);
      break;
    case Level::O2: {
      ModuleTypes black = get_black_list();
      if (!options.keep_batchnorm_fp32().value_or(true))
        black.remove<nn::BatchNorm1d, nn::BatchNorm2d, nn::BatchNorm3d>();
      apply_black_to_network(net, black, dtype, &before);
      break;
    }
    case Level::O3:
      apply_black_to_network(net, options.keep_batchnorm_fp32().value_or(false) ? batch_norms() : ModuleTypes(), dtype,
                             &before);
      break;
    case Level::automatic:
      net.apply([dtype](nn::Module& m) { add_scope(m, dtype); });
      break;
  }
  return before;
}

void apply_level(nn::Module& net, Level level, const LevelOptions& options) {
  apply_level_keeping(net, level, options);
}

void apply_lists(nn::Module& net, const std::optional<ModuleTypes>& white_list,
                 const std::optional<ModuleTypes>& black_list, ScalarType dtype) {
  check_dtype(dtype);
  HB_CHECK(white_list.has_value() != black_list.has_value(),
           "[custom_mixed_precision] expected either a white list or a black list, got ",
           white_list ? "both" : "neither");
  if (white_list)
    apply_white(net, *white_list, dtype);
  else
    apply_black_to_network(net, *black_list, dtype, nullptr);
}

namespace {
// What set_compute_dtype has hung on a module: a buffer would show up in its files, so this stands apart.
struct Handles {
  std::weak_ptr<nn::Module> module;
  std::vector<unsigned> hooks;
};
std::unordered_map<nn::Module*, Handles>& compute_dtypes() {
  static auto& all =
      *new std::unordered_map<nn::Module*, Handles>;  // never destroyed: threads may ask while the process ends
  return all;
}
std::mutex compute_dtypes_mutex;

// Of the call's first floating input: from the pre-hook to the scope, and from the scope's end to the hook.
thread_local ScalarType caller_dtype = kFloat;

struct ComputeScope {
  ComputeScope(const nn::Module& module, ScalarType dtype)
      : caller(caller_dtype), scope(device_of(module), is_half_type(dtype) ? std::optional(dtype) : std::nullopt) {}
  ~ComputeScope() { caller_dtype = caller; }
  ScalarType caller;
  HalfScope scope;
};
}  // namespace

void set_compute_dtype(nn::Module& module, ScalarType dtype) {
  HB_CHECK(is_half_type(dtype) || dtype == kFloat, "[to_float] expected Float, Half or BFloat16, got ", dtype);
  std::lock_guard lock(compute_dtypes_mutex);
  auto& all = compute_dtypes();
  for (auto it = all.begin(); it != all.end();) it = it->second.module.expired() ? all.erase(it) : std::next(it);
  auto& entry = all[&module];
  for (unsigned handle : entry.hooks) module.remove_hook(handle);
  entry.module = module.weak_from_this();
  HB_CHECK(!entry.module.expired(), "[to_float] expected ", module.name(), " to be held by a shared_ptr");
  if (dtype == kFloat) module.apply([](nn::Module& m) { convert(m, kFloat, nullptr); });
  entry.hooks = {module.register_forward_pre_hook([dtype](nn::Module&, const variable_list& inputs) {
                   caller_dtype = kFloat;
                   for (const Tensor& t : inputs)
                     if (t.defined() && t.is_floating_point()) {
                       caller_dtype = t.scalar_type();
                       break;
                     }
                   return cast(inputs, dtype);
                 }),
                 module.register_forward_scope([dtype](nn::Module& m) -> std::shared_ptr<void> {
                   return std::make_shared<ComputeScope>(m, dtype);
                 }),
                 module.register_forward_hook([](nn::Module&, const variable_list&, const variable_list& outputs) {
                   return cast(outputs, caller_dtype);
                 })};
}

}  // namespace hb::amp
