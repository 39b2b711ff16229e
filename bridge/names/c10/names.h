#pragma once
// The engine's names as c10::, at:: and torch::, and the macros of c10. No definition stands here: `hb` holds the
// engine, `hb::bridge::api` what the bridge adds to these three namespaces themselves.

#include <halfbridge/bridge/at_tensor.h>
#include <halfbridge/bridge/call_forms.h>
#include <halfbridge/bridge/context.h>
#include <halfbridge/bridge/dtype_rules.h>
#include <halfbridge/bridge/element_types.h>
#include <halfbridge/bridge/enum.h>
#include <halfbridge/bridge/expand.h>
#include <halfbridge/bridge/from_file.h>
#include <halfbridge/bridge/inner_functions.h>
#include <halfbridge/bridge/nn/rnn_functions.h>
#include <halfbridge/bridge/optim/fused_functions.h>
#include <halfbridge/bridge/print_containers.h>
#include <halfbridge/bridge/scalar_ops.h>
#include <halfbridge/bridge/small_vector.h>
#include <halfbridge/bridge/tensor_checks.h>
#include <halfbridge/bridge/tensor_maker.h>
#include <halfbridge/bridge/tensor_refs.h>
#include <halfbridge/bridge/underscored.h>
#include <halfbridge/bridge/underscored_gradients.h>
#include <halfbridge/bridge/utility.h>
#include <halfbridge/bridge/warning.h>
#include <halfbridge/engine.h>
#include <halfbridge/maybe_owned.h>
#include <halfbridge/more_errors.h>
#include <halfbridge/stream.h>
#include <halfbridge/sym_int.h>

#include <string>

#include <c10/core/forall_types.h>
#include <c10/macros/Macros.h>
#include <c10/util/Logging.h>
#include <c10/util/check_macros.h>
#include <c10/util/complex.h>

namespace hb::bridge {
inline namespace api {}
}  // namespace hb::bridge

// Programs reopen these namespaces, so none of them is an alias. Each sees the names of the one after it, as in
// LibTorch: torch, at, c10. A namespace below them has another name in hb, or stands in hb::bridge: two namespaces of
// one name that `using namespace torch` shows would be ambiguous.
namespace c10 {
using namespace hb;
using namespace hb::bridge::api;
using DimVector = SmallVector<int64_t, 5>;
using IntList [[deprecated("use IntArrayRef")]] = ArrayRef<int64_t>;
using hb::bridge::demangle;
using std::in_place;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::stod;
using std::stoi;
using std::stoll;
using std::stoull;
using std::string_view;
using std::to_string;
namespace WarningUtils {
using namespace hb::bridge::WarningUtils;
}
namespace impl {
using hb::ExcludeDispatchKeyGuard;
using hb::IncludeDispatchKeyGuard;
using hb::LocalDispatchKeySet;
using hb::tls_is_dispatch_key_excluded;
using hb::tls_is_dispatch_key_included;
using hb::tls_local_dispatch_key_set;
}  // namespace impl
}  // namespace c10

namespace at {
using namespace c10;
using TensorBase = hb::Tensor;
using hb::complex;             // before the type c10::complex
using hb::bridge::api::trace;  // before the namespace hb::trace
using hb::bridge::of_at::tensor;
namespace Reduction {
using namespace hb::loss_reduction;
}
namespace autocast {
using namespace hb::autocast;
}
namespace indexing {
using namespace hb::subscripts;
}
}  // namespace at

namespace torch {
using namespace at;
using hb::tensor;                    // before at::tensor
using autocast = hb::AutocastGuard;  // at::autocast stays the namespace
namespace autograd {
using namespace hb::autodiff;
}
namespace special {
using namespace hb::special_functions;
inline Tensor logit(const Tensor& self) { return hb::logit(self); }  // of one argument, as in LibTorch
}  // namespace special
}  // namespace torch

namespace caffe2 {
using hb::TypeMeta;
}  // namespace caffe2
