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
inline std::unordered_map<std::string, Names> make_modules_of_ops() {
  std::unordered_map<std::string, Names> table;
  const auto add = [&](const char* module, const char* operators) {
    std::istringstream names(operators);
    for (std::string name; names >> name;) table[name].insert(module);
  };
#define HB_LAYER(module, kind, forward, precision, operators, ...) add(#module, operators);
#include <halfbridge/bridge/nn/table/modules.def>
  return table;
}
inline const std::unordered_map<std::string, Names>& modules_of_ops() {
  static const auto* table = new std::unordered_map<std::string, Names>(make_modules_of_ops());
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
  /// Null for a range that is not an operator (RECORD_FUNCTION in somebody's code).
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

/// The arguments that are not tensors: `kernel_size=[2, 2], stride=[2, 2]`; what is None is left out.
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
