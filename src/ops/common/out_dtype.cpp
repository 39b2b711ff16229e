#include "ops/common/out_dtype.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include <halfbridge/error.h>
#include <halfbridge/ops/combine.h>

#include "core/value_range.h"

namespace hb {

namespace {

// How functions that want their own dtype say it: {out} and {result} are names of dtypes, {out_cpp} and {result_cpp} of
// C++ types, {name} is the function.
struct Refusal {
  std::string_view text;
  std::initializer_list<std::string_view> functions;
};

constexpr std::string_view kOwnDtype = "Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead";

const Refusal kRefusals[] = {
    {kOwnDtype,
     {"mm",
      "addmm",
      "addmv",
      "bmm",
      "baddbmm",
      "matmul",
      "mv",
      "linear",
      "chain_matmul",
      "linalg_multi_dot",
      "linalg_inv",
      "inverse",
      "linalg_det",
      "linalg_cholesky",
      "linalg_solve",
      "linalg_svdvals",
      "linalg_eigvalsh",
      "linalg_vector_norm",
      "linalg_norm",
      "linalg_matrix_power",
      "linalg_cross",
      "linalg_qr",
      "linalg_eigh",
      "linalg_slogdet",
      "norm",
      "dist",
      "trace",
      "cross",
      "renorm",
      "softmax",
      "log_softmax",
      "argmax",
      "argmin",
      "max",
      "min",
      "sort",
      "topk",
      "var_mean",
      "std_mean",
      "aminmax",
      "bincount",
      "count_nonzero",
      "isin",
      "gather",
      "scatter",
      "scatter_add",
      "index_add",
      "index_copy",
      "index_fill",
      "take_along_dim",
      "tril",
      "triu",
      "diag",
      "diag_embed",
      "flip",
      "roll",
      "repeat",
      "relu",
      "celu",
      "rsub",
      "clone",
      "copy",
      "set",
      "zero",
      "lift",
      "resize",
      "resize_as",
      "embedding_renorm",
      "linalg_ldl_factor",
      "linalg_ldl_factor_ex",
      "linalg_ldl_solve",
      "sparse_mask",
      "masked_fill",
      "nll_loss",
      "embedding",
      "avg_pool2d",
      "upsample_nearest2d",
      "reflection_pad1d",
      "replication_pad1d",
      "constant_pad_nd"}},
    {"Found dtype {out} but expected {result}",
     {"abs",
      "neg",
      "sign",
      "sgn",
      "floor",
      "ceil",
      "trunc",
      "round",
      "frac",
      "clamp",
      "clamp_min",
      "clamp_max",
      "leaky_relu",
      "elu",
      "gelu",
      "silu",
      "mish",
      "hardtanh",
      "hardsigmoid",
      "hardswish",
      "softplus",
      "softshrink",
      "hardshrink",
      "binary_cross_entropy",
      "soft_margin_loss",
      "bitwise_not"}},
    {"result dtype {out} does not match input dtype {result}", {"dot", "vdot"}},
    {"{name}(): self and result must have the same scalar type", {"index_select", "masked_select"}},
    {"take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}",
     {"take"}},
    {"Expected out type to be {result} but got {out}", {"where"}},
    {"{name} only supports bool tensor for result, got: {out}", {"any", "all"}},
    {"nonzero: Expected out tensor to have scalar type Long but got scalar type{out}", {"nonzero"}},
    {"Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.",
     {"amax", "amin"}},
    {"tensordot: Expected the output tensor to have dtype {result}, but got {out}", {"tensordot", "inner"}},
    {"expected scalar_type {result} but found {out}",
     {"logcumsumexp", "cummax", "cummin", "log_sigmoid", "im2col", "col2im"}},
    {"nan_to_num: dtype of out: {out} should be same as input: {result}", {"nan_to_num"}},
    {"{name} does not support non-boolean outputs.", {"isposinf", "isneginf", "signbit"}},
    {"torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result} and hist {out}",
     {"histc"}},
    {"torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64), got {out}",
     {"searchsorted", "bucketize"}},
    {"{name}(): out tensor must be same dtype as the input tensor {result}, got {out}",
     {"quantile", "nanquantile", "median", "nanmedian", "kthvalue", "mode"}},
};

// As compilers print the types in LibTorch's messages.
std::string_view compiler_name(ScalarType t) {
  switch (t) {
    case kLong:
      return "long int";
    case kShort:
      return "short int";
    case kByte:
      return "unsigned char";
    case kChar:
      return "signed char";
    default:
      return cpp_name(t);
  }
}

std::string filled(std::string_view text, std::string_view name, ScalarType result, ScalarType out) {
  std::string message(text);
  const auto put = [&](std::string_view word, std::string_view value) {
    for (size_t at = message.find(word); at != std::string::npos; at = message.find(word, at + value.size()))
      message.replace(at, word.size(), value);
  };
  put("{name}", name), put("{out}", toString(out)), put("{result}", toString(result));
  put("{out_cpp}", compiler_name(out)), put("{result_cpp}", compiler_name(result));
  return message;
}

}  // namespace

void check_out_dtype(const char* name, ScalarType result, ScalarType out) {
  if (result == out) return;
  std::string_view function = name;
  constexpr std::string_view kSuffix = "_out";
  if (function.size() > kSuffix.size() && function.substr(function.size() - kSuffix.size()) == kSuffix)
    function.remove_suffix(kSuffix.size());
  if ((function == "all" || function == "any") && (out == kByte || out == kBool)) return;
  for (const Refusal& refusal : kRefusals)
    for (const std::string_view known : refusal.functions)
      HB_CHECK(known != function, filled(refusal.text, function, result, out));
  check_cast(name, result, out);
}

void require_out_dtype(const char* name, ScalarType wanted, ScalarType out) {
  HB_CHECK(wanted == out, "[", name, "] ", filled(kOwnDtype, name, wanted, out));
}

}  // namespace hb
