#include <halfbridge/amp/levels.h>

#include <halfbridge/bridge/nn.h>
#include <halfbridge/ops.h>

#include "half_scope.h"
#include "module_hooks.h"

namespace hb::amp {

namespace nn = bridge::nn;
using hb::autocast::FunctionLists;
using hb::autocast::WeightCopies;
using LevelPtr = std::shared_ptr<const hb::autocast::Level>;

namespace {

void check_dtype(ScalarType dtype) {
  HB_CHECK(is_half_type(dtype), "[auto_mixed_precision] expected dtype Half or BFloat16, got ", dtype);
}

// A network on its way to a level.
class Application {
 public:
  Application(const CastList& list, ScalarType dtype, bool half_network)
      : list_(list), dtype_(dtype), copies_(std::make_shared<WeightCopies>()) {
    auto functions = std::make_shared<FunctionLists>();
    functions->half_network = half_network;
    const auto white = half_network ? get_white_list().functions() : list.functions();
    functions->white = {white.begin(), white.end()};
    if (half_network) functions->black = {list.functions().begin(), list.functions().end()};
    level_ = std::make_shared<hb::autocast::Level>(copies_, functions);
    autocast_ = std::make_shared<hb::autocast::Level>(copies_, nullptr);
  }

  void white(nn::Module& module) {
    if (keeps_its_dtype(module)) return;
    if (list_.contains(module)) {
      cast_inputs(module, dtype_);
      cast_outputs(module, kFloat);
      run_under(module, autocast_);
      return;
    }
    run_under(module, level_);
    for (const auto& child : module.children()) white(*child);
  }

  void black_network(nn::Module& net) {
    black(net);
    cast_inputs(net, dtype_);
    cast_outputs(net, kFloat);
  }

  // Every function in the precision that suits it.
  void by_classes(nn::Module& module) {
    if (keeps_its_dtype(module)) return;
    run_under(module, autocast_);
    for (const auto& child : module.children()) by_classes(*child);
  }

  void finish(const nn::Module& net) const {
    with_hooks(net, [&](ModuleHooks& hooks) { hooks.copies = copies_; });
  }

 private:
  static bool keeps_its_dtype(const nn::Module& module) {
    bool keeps = false;
    with_hooks(module, [&](ModuleHooks& hooks) { keeps = !hooks.compute_dtype.empty(); });
    return keeps;
  }
  static void remember(nn::Module& module, unsigned handle) {
    with_hooks(module, [&](ModuleHooks& hooks) { hooks.level.push_back(handle); });
  }
  static void cast_inputs(nn::Module& module, ScalarType dtype) {
    remember(module, module.register_forward_pre_hook(
                         [dtype](nn::Module&, const variable_list& inputs) { return cast(inputs, dtype); }));
  }
  static void cast_outputs(nn::Module& module, ScalarType dtype) {
    remember(module,
             module.register_forward_hook([dtype](nn::Module&, const variable_list&, const variable_list& outputs) {
               variable_list result = cast(outputs, dtype);
               // A loss stays in float32.
               for (size_t i = 0; i < outputs.size(); ++i)
                 if (outputs[i].defined() && outputs[i].dim() == 0 && outputs[i].scalar_type() == kFloat)
                   result[i] = outputs[i];
               return result;
             }));
  }
  // `level`: null for modules that compute in float32.
  void run_under(nn::Module& module, const LevelPtr& level) const {
    const auto dtype = level ? std::optional(dtype_) : std::nullopt;
    remember(module, module.register_forward_scope([dtype, level](nn::Module& m) -> std::shared_ptr<void> {
      return std::make_shared<HalfScope>(device_of(m), dtype, level);
    }));
  }

  void black(nn::Module& module) {
    if (keeps_its_dtype(module)) return;
    if (list_.contains(module)) {
      // A batch norm of half values beside float32 parameters computes in float32 and rounds once: casts around it
      // would give the same values, and have it keep its input in float32.
      if (!batch_norms().contains(module)) cast_inputs(module, kFloat);
      cast_outputs(module, dtype_);
      run_under(module, nullptr);
      return;
    }
    run_under(module, level_);
    adopt(module);
    if (!module.parameters(/*recurse=*/false).empty()) cast_inputs(module, dtype_);
    // No floating tensor goes in that would say what comes out.
    if (dynamic_cast<nn::EmbeddingImpl*>(&module) || dynamic_cast<nn::EmbeddingBagImpl*>(&module))
      cast_outputs(module, dtype_);
    for (const auto& child : module.children()) black(*child);
  }
  // What is half at this level though it requires no gradient.
  void adopt(const nn::Module& module) const {
    const auto consider = [&](const Tensor& t) {
      if (t.defined() && t.scalar_type() == kFloat && !t.requires_grad()) copies_->adopt(t);
    };
    for (const Tensor& p : module.parameters(/*recurse=*/false)) consider(p);
    for (const Tensor& b : module.buffers(/*recurse=*/false)) consider(b);
  }

  const CastList& list_;
  const ScalarType dtype_;
  std::shared_ptr<WeightCopies> copies_;
  LevelPtr level_, autocast_;  // with the level's lists of functions, and with autocast's classes
};

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

Level level_for(Level level, DeviceType device) {
  if (level == Level::O0) return level;
  if (device != kCPU && device != kCUDA)
    hb::detail::fail<ValueError>("[amp_level] expected a network on the CPU or on CUDA for level ", to_string(level),
                                 ", got one on ", device);
  return level == Level::automatic && device == kCUDA ? Level::O2 : level;
}

void apply_level(nn::Module& net, Level level, const LevelOptions& options) {
  if (level != Level::O0) check_dtype(options.dtype());
  level = level_for(level, device_of(net).type());
  CastList list;
  switch (level) {
    case Level::O0:
      return remove_level(net);
    case Level::O1:
      list = get_white_list();
      break;
    case Level::O2:
      list = get_black_list();
      if (!options.keep_batchnorm_fp32().value_or(true))
        list.remove<nn::BatchNorm1d, nn::BatchNorm2d, nn::BatchNorm3d>();
      break;
    case Level::O3:
      if (options.keep_batchnorm_fp32().value_or(false)) list = batch_norms();
      break;
    case Level::automatic:
      break;
  }
  remove_level(net);
  Application application(list, options.dtype(), level == Level::O2 || level == Level::O3);
  if (level == Level::O1)
    application.white(net);
  else if (level == Level::automatic)
    application.by_classes(net);
  else
    application.black_network(net);
  application.finish(net);
}

void apply_lists(nn::Module& net, const std::optional<CastList>& white_list, const std::optional<CastList>& black_list,
                 ScalarType dtype) {
  check_dtype(dtype);
  HB_CHECK(white_list.has_value() != black_list.has_value(),
           "[custom_mixed_precision] expected either a white list or a black list, got ",
           white_list ? "both" : "neither");
  level_for(Level::O1, device_of(net).type());
  remove_level(net);
  Application application(white_list ? *white_list : *black_list, dtype, black_list.has_value());
  white_list ? application.white(net) : application.black_network(net);
  application.finish(net);
}

HalfCopies half_copies(const nn::Module& net) {
  std::shared_ptr<WeightCopies> copies;
  with_hooks(net, [&](ModuleHooks& hooks) { copies = hooks.copies.lock(); });
  if (!copies) return {};
  const auto count = copies->count();
  return {count.tensors, count.bytes, count.made};
}

}  // namespace hb::amp
