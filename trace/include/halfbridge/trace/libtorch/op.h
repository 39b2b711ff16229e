#pragma once
// What is known of an ATen operator by its schema: name, arguments, and which modules call it.

#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ATen/record_function.h>
#include <torch/torch.h>

namespace hb::trace::libtorch {

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
using Names = std::unordered_set<std::string>;

/// `compute` may be a layer; `view` returns what it was given in another shape, dtype or place; `ignored` is neither.
enum class OpClass { compute, view, ignored };

struct Op {
  std::string name;  // as docs/trace-format.md has it: no `aten::`, no overload, no trailing `_`
  std::vector<std::string> arguments;
  bool writes_first = false;  // changes its first argument in place
  OpClass what = OpClass::compute;
  bool changes_statistics = false;  // its last arguments in place, which the schema does not say
  const Names* modules = nullptr;   // types of the modules whose forward it is; null where there is none
};

// Modules whose forward is one call of the operator.
inline const std::unordered_map<std::string, Names>& modules_of_ops() {
  static const auto* table = new std::unordered_map<std::string, Names>{
      {"linear", {"Linear"}},
      {"addmm", {"Linear"}},   // what LibTorch's Linear calls: of a matrix with a bias
      {"matmul", {"Linear"}},  // otherwise; the bias is added to the result
      {"bilinear", {"Bilinear"}},
      {"conv1d", {"Conv1d"}},
      {"conv2d", {"Conv2d"}},
      {"conv3d", {"Conv3d"}},
      {"conv_transpose1d", {"ConvTranspose1d"}},
      {"conv_transpose2d", {"ConvTranspose2d"}},
      {"conv_transpose3d", {"ConvTranspose3d"}},
      {"batch_norm", {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d"}},
      {"instance_norm", {"InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"}},
      {"layer_norm", {"LayerNorm"}},
      {"group_norm", {"GroupNorm"}},
      {"embedding", {"Embedding"}},
      {"embedding_bag", {"EmbeddingBag"}},
      {"lstm", {"LSTM"}},
      {"gru", {"GRU"}},
      {"rnn_tanh", {"RNN"}},
      {"rnn_relu", {"RNN"}},
      {"lstm_cell", {"LSTMCell"}},
      {"gru_cell", {"GRUCell"}},
      {"rnn_tanh_cell", {"RNNCell"}},
      {"rnn_relu_cell", {"RNNCell"}},
      {"prelu", {"PReLU"}},
      {"relu", {"ReLU"}},
      {"leaky_relu", {"LeakyReLU"}},
      {"elu", {"ELU", "CELU"}},
      {"celu", {"CELU"}},
      {"selu", {"SELU"}},
      {"rrelu", {"RReLU"}},
      {"gelu", {"GELU"}},
      {"silu", {"SiLU"}},
      {"mish", {"Mish"}},
      {"sigmoid", {"Sigmoid"}},
      {"log_sigmoid", {"LogSigmoid"}},
      {"tanh", {"Tanh"}},
      {"hardtanh", {"Hardtanh", "ReLU6"}},
      {"relu6", {"ReLU6"}},
      {"hardshrink", {"Hardshrink"}},
      {"softshrink", {"Softshrink"}},
      {"softplus", {"Softplus"}},
      {"threshold", {"Threshold"}},
      {"softmax", {"Softmax", "Softmax2d", "Softmin"}},
      {"log_softmax", {"LogSoftmax"}},
      {"glu", {"GLU"}},
      {"dropout", {"Dropout"}},
      {"feature_dropout", {"Dropout2d", "Dropout3d"}},
      {"alpha_dropout", {"AlphaDropout"}},
      {"feature_alpha_dropout", {"FeatureAlphaDropout"}},
      {"max_pool1d", {"MaxPool1d"}},
      {"max_pool2d", {"MaxPool2d"}},
      {"max_pool3d", {"MaxPool3d"}},
      {"max_pool1d_with_indices", {"MaxPool1d"}},
      {"max_pool2d_with_indices", {"MaxPool2d"}},
      {"max_pool3d_with_indices", {"MaxPool3d"}},
      {"avg_pool1d", {"AvgPool1d"}},
      {"avg_pool2d", {"AvgPool2d"}},
      {"avg_pool3d", {"AvgPool3d"}},
      {"adaptive_avg_pool1d", {"AdaptiveAvgPool1d"}},
      {"adaptive_avg_pool2d", {"AdaptiveAvgPool2d"}},
      {"adaptive_avg_pool3d", {"AdaptiveAvgPool3d"}},
      {"adaptive_max_pool1d", {"AdaptiveMaxPool1d"}},
      {"adaptive_max_pool2d", {"AdaptiveMaxPool2d"}},
      {"adaptive_max_pool3d", {"AdaptiveMaxPool3d"}},
      {"fractional_max_pool2d", {"FractionalMaxPool2d"}},
      {"fractional_max_pool3d", {"FractionalMaxPool3d"}},
      {"max_unpool2d", {"MaxUnpool1d", "MaxUnpool2d"}},
      {"max_unpool3d", {"MaxUnpool3d"}},
      {"constant_pad_nd", {"ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"}},
      {"reflection_pad1d", {"ReflectionPad1d"}},
      {"reflection_pad2d", {"ReflectionPad2d"}},
      {"reflection_pad3d", {"ReflectionPad3d"}},
      {"replication_pad1d", {"ReplicationPad1d"}},
      {"replication_pad2d", {"ReplicationPad2d"}},
      {"replication_pad3d", {"ReplicationPad3d"}},
      {"upsample_nearest1d", {"Upsample"}},
      {"upsample_nearest2d", {"Upsample"}},
      {"upsample_nearest3d", {"Upsample"}},
      {"upsample_linear1d", {"Upsample"}},
      {"upsample_bilinear2d", {"Upsample"}},
      {"upsample_bicubic2d", {"Upsample"}},
      {"upsample_trilinear3d", {"Upsample"}},
      {"pixel_shuffle", {"PixelShuffle"}},
      {"pixel_unshuffle", {"PixelUnshuffle"}},
      {"im2col", {"Unfold"}},
      {"col2im", {"Fold"}},
      {"flatten", {"Flatten"}},
      {"unflatten", {"Unflatten"}},
      {"cosine_similarity", {"CosineSimilarity"}},
      {"pairwise_distance", {"PairwiseDistance"}},
      {"cross_entropy_loss", {"CrossEntropyLoss"}},
      {"nll_loss_nd", {"NLLLoss"}},
      {"nll_loss", {"NLLLoss"}},
      {"mse_loss", {"MSELoss"}},
      {"l1_loss", {"L1Loss"}},
      {"smooth_l1_loss", {"SmoothL1Loss"}},
      {"huber_loss", {"HuberLoss"}},
      {"binary_cross_entropy", {"BCELoss"}},
      {"binary_cross_entropy_with_logits", {"BCEWithLogitsLoss"}},
      {"kl_div", {"KLDivLoss"}},
      {"poisson_nll_loss", {"PoissonNLLLoss"}},
      {"hinge_embedding_loss", {"HingeEmbeddingLoss"}},
      {"margin_ranking_loss", {"MarginRankingLoss"}},
      {"cosine_embedding_loss", {"CosineEmbeddingLoss"}},
      {"triplet_margin_loss", {"TripletMarginLoss"}},
      {"multi_margin_loss", {"MultiMarginLoss"}},
      {"multilabel_margin_loss", {"MultiLabelMarginLoss"}},
      {"soft_margin_loss", {"SoftMarginLoss"}},
      {"ctc_loss", {"CTCLoss"}},
  };
  return *table;
}

inline OpClass class_of(const std::string& name) {
  static const Names views{"view",         "reshape",  "flatten",      "unflatten",
                           "transpose",    "t",        "permute",      "squeeze",
                           "unsqueeze",    "select",   "slice",        "narrow",
                           "chunk",        "split",    "unsafe_chunk", "split_with_sizes",
                           "unbind",       "expand",   "expand_as",    "view_as",
                           "detach",       "alias",    "as_strided",   "contiguous",
                           "to",           "_to_copy", "type_as",      "clone",
                           "movedim",      "moveaxis", "swapaxes",     "swapdims",
                           "adjoint",      "mT",       "mH",           "numpy_T",
                           "matrix_H",     "diagonal", "unfold",       "real",
                           "imag",         "ravel",    "reshape_as",   "view_as_real",
                           "cpu",          "cuda",     "tensor_split", "view_as_complex",
                           "hsplit",       "vsplit",   "unsafe_split", "lift_fresh",
                           "_unsafe_view", "conj",     "resolve_conj", "resolve_neg"};
  static const Names ignored{"item",           "equal",
                             "allclose",       "size",
                             "stride",         "dim",
                             "numel",          "storage_offset",
                             "requires_grad",  "set",
                             "copy",           "resize",
                             "resize_as",      "empty",
                             "zeros",          "ones",
                             "full",           "arange",
                             "range",          "linspace",
                             "logspace",       "eye",
                             "rand",           "randn",
                             "randint",        "randperm",
                             "tril_indices",   "zero",
                             "fill",           "normal",
                             "uniform",        "random",
                             "bernoulli",      "exponential",
                             "geometric",      "log_normal",
                             "cauchy",         "multinomial",
                             "poisson",        "tensor",
                             "data",           "set_data",
                             "output_nr",      "retain_grad",
                             "result_type",    "can_cast",
                             "scalar_tensor",  "from_file",
                             "record_stream",  "empty_like",
                             "zeros_like",     "ones_like",
                             "full_like",      "rand_like",
                             "randn_like",     "randint_like",
                             "empty_strided",  "embedding_renorm",
                             "promote_types",  "lift",
                             "pin_memory",     "backward",
                             "retains_grad",   "hann_window",
                             "hamming_window", "detach_copy",
                             "triu_indices"};
  if (views.count(name)) return OpClass::view;
  if (ignored.count(name)) return OpClass::ignored;
  const auto begins = [&](const char* front) { return name.rfind(front, 0) == 0; };
  const bool internal = begins("_") && !begins("__") && name != "_weight_norm";
  return internal || begins("is_") || begins("new_") ? OpClass::ignored : OpClass::compute;
}

/// The operators that this process called so far.
class Ops {
 public:
  /// Null for a range that is no operator (RECORD_FUNCTION in somebody's code).
  const Op* find(const at::RecordFunction& fn) {
    // The name lies in the registered schema, one for each overload.
    auto known = ops_.find(fn.name());
    if (known != ops_.end()) return known->second.get();
    const auto schema = fn.operator_schema();
    if (!schema.has_value()) return nullptr;
    return ops_.emplace(fn.name(), std::make_unique<Op>(describe(*schema))).first->second.get();
  }

 private:
  static Op describe(const c10::FunctionSchema& schema) {
    Op op;
    op.name = schema.name().substr(schema.name().rfind(':') + 1);
    const bool dunder = op.name.rfind("__", 0) == 0;
    if (dunder) {  // __iadd__, __and__
      op.name = op.name.substr(2, op.name.size() - 4);
      if (op.name.size() > 3 && op.name[0] == 'i') op.name.erase(0, 1);
    } else if (op.name.size() > 1 && op.name.back() == '_') {
      op.name.pop_back();
    }
    op.what = class_of(op.name);
    for (const auto& argument : schema.arguments()) op.arguments.push_back(argument.name());
    if (!schema.arguments().empty()) {
      const auto* alias = schema.arguments()[0].alias_info();
      // Not what changes flags alone, and not what an embedding does to its weight in its forward.
      static const Names others{"requires_grad", "set", "set_data", "resize", "resize_as", "embedding_renorm"};
      op.writes_first = alias && alias->isWrite() && op.what != OpClass::view && !others.count(op.name);
    }
    op.changes_statistics = op.name == "batch_norm" || op.name == "instance_norm";
    const auto modules = modules_of_ops().find(op.name);
    if (modules != modules_of_ops().end()) op.modules = &modules->second;
    return op;
  }

  std::unordered_map<const void*, std::unique_ptr<Op>> ops_;
};

// RecordFunction::inputs() asserts, in a program that was compiled without NDEBUG, a flag that a LibTorch which was
// compiled with it never sets. The member lies at the same place in both: it is read by its address.
#ifndef NDEBUG
struct RecordedInputs {
  using Member = c10::ArrayRef<const c10::IValue> at::RecordFunction::*;
  friend Member member_of(RecordedInputs);
};
template <class Tag, typename Tag::Member member>
struct Expose {
  friend typename Tag::Member member_of(Tag) { return member; }
};
template struct Expose<RecordedInputs, &at::RecordFunction::inputs_>;
inline c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& fn) {
  return fn.*member_of(RecordedInputs());
}
#else
inline c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& fn) { return fn.inputs(); }
#endif

/// Calls `use(tensor)` for each defined tensor in a value, lists too.
template <class Use>
void for_each_tensor(const c10::IValue& value, const Use& use) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) use(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, use);
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, use);
  }
}

inline bool append_plain(std::ostream& out, const c10::IValue& value) {
  if (value.isInt() || value.isDouble() || value.isBool()) {
    if (value.isInt()) out << value.toInt();
    if (value.isDouble()) out << value.toDouble();
    if (value.isBool()) out << (value.toBool() ? "true" : "false");
    return true;
  }
  if (value.isString()) {
    out << value.toStringRef();
    return true;
  }
  if (!value.isList()) return false;
  std::ostringstream inner;
  bool first = true;
  for (const c10::IValue& element : value.toListRef()) {
    inner << (first ? "" : ", ");
    if (!append_plain(inner, element)) return false;
    first = false;
  }
  out << "[" << inner.str() << "]";
  return true;
}

/// The arguments that are no tensors: `kernel_size=[2, 2], stride=[2, 2]`; what is None is left out.
inline std::string arguments_text(const Op& op, c10::ArrayRef<const c10::IValue> inputs) {
  std::ostringstream text;
  for (size_t i = 0; i < inputs.size() && i < op.arguments.size(); ++i) {
    if (inputs[i].isTensorList()) continue;
    std::ostringstream value;
    if (!append_plain(value, inputs[i])) continue;
    text << (text.tellp() > 0 ? ", " : "") << op.arguments[i] << "=" << value.str();
  }
  return text.str();
}

}  // namespace hb::trace::libtorch
