#include <algorithm>
#include <array>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

#include "core/recorder.h"
#include "script/nodes.h"
#include "script/norm_folds.h"

namespace hb::bridge::script {
namespace {

constexpr const char* kConvolutionNames[] = {"weight", "bias"};
// Training writes to the statistics without a trace; where it does, it counts batches.
constexpr const char* kNormNames[] = {"running_mean", "running_var", "weight", "bias", "num_batches_tracked"};
enum Source { kWeight, kBias, kMean, kVariance, kGamma, kBeta, kFolded, kBatches = kFolded, kSources };

// A tensor as it was.
struct Seen {
  Tensor tensor;
  uint32_t version = 0;
  const void* data = nullptr;

  Seen() = default;
  explicit Seen(const IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return;
    tensor = value.toTensor();
    version = tensor.unsafeGetTensorImpl()->version();
    if (!capture::any_recording()) data = tensor.const_data_ptr();  // to ask for it ends a recording
  }
  bool operator==(const Seen& other) const {
    return tensor.unsafeGetTensorImpl() == other.tensor.unsafeGetTensorImpl() && version == other.version &&
           data == other.data;
  }
};
using Sources = std::array<Seen, kSources>;

Seen seen(const ivalue::ObjectData& object, const char* name) {
  const auto* attribute = object.find(name);
  return attribute ? Seen(attribute->value) : Seen();
}

Sources sources_of(const ivalue::ObjectData& convolution, const ivalue::ObjectData& norm) {
  Sources sources;
  for (size_t i = 0; i < std::size(kConvolutionNames); ++i) sources[i] = seen(convolution, kConvolutionNames[i]);
  for (size_t i = 0; i < std::size(kNormNames); ++i) sources[kMean + i] = seen(norm, kNormNames[i]);
  return sources;
}

bool is_training(const ivalue::ObjectData& norm) {
  const auto* training = norm.find("training");
  return training && training->value.isBool() && training->value.toBool();
}

bool can_be_folded(const Sources& sources) {
  const Tensor& weight = sources[kWeight].tensor;
  if (!weight.defined() || weight.dim() < 3 || !sources[kMean].tensor.defined()) return false;
  return std::all_of(sources.begin(), sources.begin() + kFolded, [&](const Seen& source) {
    const Tensor& t = source.tensor;
    if (!t.defined()) return &source != &sources[kVariance];
    return t.is_floating_point() && t.device() == weight.device() && t.layout() == Layout::Strided &&
           (&t == &weight || (t.dim() == 1 && t.size(0) == weight.size(0)));
  });
}

IValue forward(const std::shared_ptr<ivalue::ObjectData>& module, IValue input) {
  const ScriptFunction* function = find_method(*module, "forward");
  HB_CHECK(function, "[TorchScript] ", module->class_name, " has no method 'forward'");
  return function->run({IValue(module), std::move(input)});
}

}  // namespace

struct FoldedNorm::Folded {
  std::weak_ptr<ivalue::ObjectData> convolution, norm;
  std::shared_ptr<const ivalue::ClassData> classes[2];
  Sources sources;
  std::unique_ptr<OperatorCall> call;  // null: they are called one after the other
  Tensor weight, bias;
  std::vector<IValue> settings;

  Folded(const ObjectPtr& of_convolution, const ObjectPtr& of_norm)
      : convolution(of_convolution),
        norm(of_norm),
        classes{of_convolution->declared, of_norm->declared},
        sources(sources_of(*of_convolution, *of_norm)) {
    auto made = convolution_code(*of_convolution);
    const auto eps = norm_eps(*of_norm);
    if (!made || !eps || !can_be_folded(sources)) return;
    fold(*eps);
    settings = std::move(made->settings);
    call = std::make_unique<OperatorCall>(std::move(made->function), std::vector<std::string>());
  }

  void fold(double eps) {
    const InferenceMode no_inference(false);  // they outlive this call
    const NoGradGuard no_grad;
    const ScalarType dtype = sources[kWeight].tensor.scalar_type();
    const ScalarType exact = dtype == kDouble ? kDouble : kFloat;
    const auto value = [&](Source i) { return sources[i].tensor.to(exact); };
    Tensor scale = (value(kVariance) + eps).rsqrt();
    if (sources[kGamma].tensor.defined()) scale = scale * value(kGamma);
    Tensor shift = sources[kBias].tensor.defined() ? value(kBias) - value(kMean) : -value(kMean);
    shift = shift * scale;
    if (sources[kBeta].tensor.defined()) shift = shift + value(kBeta);
    std::vector<int64_t> shape(static_cast<size_t>(sources[kWeight].tensor.dim()), 1);
    shape[0] = -1;
    weight = (value(kWeight) * scale.reshape(shape)).to(dtype);
    bias = shift.to(dtype);
  }

  // Of the tensors, which the folded weights do not pass on.
  bool has_gradients() const {
    return std::any_of(sources.begin(), sources.end(),
                       [](const Seen& source) { return source.tensor.defined() && source.tensor.requires_grad(); });
  }
  bool is_of(const ObjectPtr& of_convolution, const ObjectPtr& of_norm) const {
    return convolution.lock() == of_convolution && norm.lock() == of_norm;
  }
  bool is_current(const ivalue::ObjectData& of_convolution, const ivalue::ObjectData& of_norm) const {
    return classes[0] == of_convolution.declared && classes[1] == of_norm.declared &&
           sources == sources_of(of_convolution, of_norm);
  }
};

FoldedNorm::FoldedNorm(int line, NodePtr convolution, NodePtr norm, NodePtr input)
    : Node(line), convolution_(std::move(convolution)), norm_(std::move(norm)), input_(std::move(input)) {}
FoldedNorm::~FoldedNorm() = default;

std::shared_ptr<const FoldedNorm::Folded> FoldedNorm::folded(const ObjectPtr& convolution,
                                                             const ObjectPtr& norm) const {
  // A replay has to fold what the tensors are by then.
  if (capture::any_recording()) return std::make_shared<const Folded>(convolution, norm);
  const std::lock_guard lock(mutex_);
  for (const auto& known : known_) {
    if (known->is_of(convolution, norm) && known->is_current(*convolution, *norm)) return known;
  }
  const auto is_old = [&](const auto& known) {
    return known->convolution.expired() || known->norm.expired() || known->is_of(convolution, norm);
  };
  known_.erase(std::remove_if(known_.begin(), known_.end(), is_old), known_.end());
  known_.push_back(std::make_shared<const Folded>(convolution, norm));
  return known_.back();
}

IValue FoldedNorm::eval(Frame& frame) const {
  const ObjectPtr convolution = convolution_->eval(frame).toObject(), norm = norm_->eval(frame).toObject();
  IValue input = input_->eval(frame);
  const auto one = is_training(*norm) ? nullptr : folded(convolution, norm);
  if (!one || !one->call || (GradMode::is_enabled() && one->has_gradients()))
    return forward(norm, forward(convolution, std::move(input)));
  Scratch scratch;
  scratch.values.push_back(std::move(input));
  scratch.values.emplace_back(one->weight);
  scratch.values.emplace_back(one->bias);
  scratch.values.insert(scratch.values.end(), one->settings.begin(), one->settings.end());
  return one->call->call(scratch.values);
}

}  // namespace hb::bridge::script
