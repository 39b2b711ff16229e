#include "result_types.h"

#include <cctype>

namespace hb::cli::port {

Type result_of_tensor_method(std::string_view name) {
  static constexpr std::array<std::string_view, 46> kOther = {"item",
                                                              "size",
                                                              "sizes",
                                                              "dim",
                                                              "ndimension",
                                                              "numel",
                                                              "data_ptr",
                                                              "const_data_ptr",
                                                              "mutable_data_ptr",
                                                              "dtype",
                                                              "device",
                                                              "scalar_type",
                                                              "options",
                                                              "defined",
                                                              "strides",
                                                              "stride",
                                                              "accessor",
                                                              "requires_grad",
                                                              "storage",
                                                              "storage_offset",
                                                              "element_size",
                                                              "nbytes",
                                                              "itemsize",
                                                              "toString",
                                                              "name",
                                                              "grad_fn",
                                                              "layout",
                                                              "get_device",
                                                              "equal",
                                                              "allclose",
                                                              "backward",
                                                              "register_hook",
                                                              "is_cuda",
                                                              "is_contiguous",
                                                              "is_floating_point",
                                                              "is_leaf",
                                                              "is_same",
                                                              "use_count",
                                                              "print",
                                                              "is_alias_of",
                                                              "is_complex",
                                                              "output_nr",
                                                              "unsafeGetTensorImpl",
                                                              "key_set",
                                                              "names",
                                                              "is_sparse"};
  static constexpr std::array<std::string_view, 13> kSeveral = {
      "split", "chunk",   "unbind", "split_with_sizes", "tensor_split", "sort", "topk", "kthvalue",
      "mode",  "aminmax", "frexp",  "nonzero_numpy",    "unsafe_split"};
  return one_of(name, kOther) ? Type::other : one_of(name, kSeveral) ? Type::tensors : Type::tensor;
}

Type result_of_libtorch(std::string_view full) {
  static constexpr std::array<std::string_view, 11> kSeveral = {
      "split", "chunk", "unbind", "meshgrid",    "broadcast_tensors", "sort",
      "topk",  "grad",  "svd",    "tensor_list", "variable_list"};
  static constexpr std::array<std::string_view, 14> kOther = {
      "is_available",    "device_count",       "manual_seed",     "save",       "set_num_threads",
      "get_num_threads", "allclose",           "equal",           "str",        "backward",
      "synchronize",     "cudnn_is_available", "clip_grad_norm_", "pickle_save"};
  const std::string_view last = full.substr(full.rfind("::") + 2);
  if (last == "Tensor" || last == "Variable") return Type::tensor;
  if (last == "TensorList" || one_of(last, kSeveral)) return Type::tensors;
  if (one_of(last, kOther)) return Type::other;
  if (std::isupper(static_cast<unsigned char>(last[0])) || full.find("::data::") != full.npos ||
      last == "make_data_loader" || full.find("jit::") != full.npos || last == "value" || last == "device" ||
      last == "dtype")
    return Type::library;
  return Type::tensor;
}

bool is_plain_type(std::string_view name) {
  static constexpr std::array<std::string_view, 24> kPlain = {
      "int",     "float",    "double",   "bool",    "char",    "long",     "short",   "unsigned",
      "signed",  "size_t",   "void",     "int64_t", "int32_t", "uint64_t", "uint8_t", "int8_t",
      "int16_t", "uint16_t", "uint32_t", "FILE",    "string",  "ssize_t",  "wchar_t", "string_view"};
  return one_of(name, kPlain) || name.substr(0, 5) == "std::";
}

}  // namespace hb::cli::port
