#pragma once
// How a function of src/ops declares what autocast does with it: one line at its front.
//
//   Tensor mm(const Tensor& self, const Tensor& mat2) {
//     HB_AUTOCAST(mm, half, half, self, mat2);          // class in the CPU's list, class in CUDA's, all arguments
//
// While autocast is off and nobody watches (function_watch.h) this costs one test of a thread-local byte. While it is
// on, the function is called again with cast arguments and with autocast excluded. The declaration also enters the
// function into the table of classes.

#include <tuple>
#include <utility>
#include <vector>

#include <halfbridge/autocast.h>

#include "core/function_watch.h"

namespace hb::autocast {

using front::active;
using front::Excluded;
using front::kSeen;

bool register_op(const OpEntry& entry);
/// Enters the function when the library loads: it is enough that the function names `done`.
template <class Op>
struct Registered {
  static const bool done;
};
template <class Op>
const bool Registered<Op>::done = register_op(Op::entry());

/// What happens to the arguments of one call, and to its results.
struct Plan {
  OpClass op_class = OpClass::as_is;
  DeviceType device = kCPU;
  ScalarType dtype = kFloat;  // what tensors are cast to
  bool cast = false;          // whether they are
  bool weights_only = false;  // whether it is weights of a level (level.h) alone that are
  bool set_dtype = false;     // whether an optional dtype becomes float32
  bool cast_results = false;  // whether results in `dtype` are cast to `result_dtype`: a level says so
  ScalarType result_dtype = kFloat;
  explicit operator bool() const { return op_class != OpClass::as_is; }
};

/// Looks at the arguments of a call for the device whose autocast applies and for the widest dtype.
class Inspector {
 public:
  void see(const Tensor& t);
  void see(const std::optional<Tensor>& t) {
    if (t) see(*t);
  }
  void see(TensorList list) {
    for (const Tensor& t : list) see(t);
  }
  template <class T>
  std::enable_if_t<!std::is_convertible_v<const T&, TensorList>> see(const T&) {}
  Plan plan(const OpEntry& entry) const;

 private:
  Plan plan_of_level(const OpEntry& entry, Plan p, uint8_t bit) const;

  uint8_t found_ = 0;              // devices of the arguments whose autocast is on
  const Tensor* first_ = nullptr;  // the first argument that is a tensor
  // What the arguments are, by device: bits of `floats_` and of each half dtype.
  uint8_t floats_ = 0, halves_ = 0, bfloats_ = 0;
  uint8_t weights_ = 0, other_floats_ = 0;  // of `floats_` under a level: its weights, the rest
};

Tensor cast(const Plan& plan, const Tensor& t);
inline std::optional<Tensor> cast(const Plan& plan, const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(cast(plan, *t)) : std::nullopt;
}
std::vector<Tensor> cast(const Plan& plan, TensorList list);
inline std::optional<ScalarType> cast(const Plan& plan, const std::optional<ScalarType>& dtype) {
  return plan.set_dtype ? set_opt_dtype(kFloat, dtype) : dtype;
}
template <class T>
std::enable_if_t<!std::is_convertible_v<const T&, TensorList>, const T&> cast(const Plan&, const T& other) {
  return other;
}

template <class... Args>
Plan plan_for(const OpEntry& entry, const Args&... args) {
  Inspector inspector;
  (inspector.see(args), ...);
  return inspector.plan(entry);
}

/// Casts what a function gave, where the plan says so.
void cast_result(const Plan& plan, Tensor& t);
inline void cast_result(const Plan& plan, std::vector<Tensor>& list) {
  for (Tensor& t : list) cast_result(plan, t);
}
template <class... Ts>
void cast_result(const Plan& plan, std::tuple<Ts...>& tuple) {
  std::apply([&](auto&... t) { (cast_result(plan, t), ...); }, tuple);
}

template <class F, class... Args>
auto run(const Plan& plan, F&& f, const Args&... args) {
  // Casts happen outside the exclusion, which they do not need.
  auto result = [&](const auto&... cast_args) {
    Excluded excluded;
    return f(cast_args...);
  }(cast(plan, args)...);
  if (HB_UNLIKELY(plan.cast_results)) cast_result(plan, result);
  return result;
}

/// The first line of a function with the parameters `...`; overloads of one name may differ.
#define HB_AUTOCAST(function, cpu_class, cuda_class, ...) \
  HB_ONE_DEVICE(function, __VA_ARGS__);                   \
  HB_AUTOCAST_ANYWHERE(function, cpu_class, cuda_class, __VA_ARGS__)

/// The same for a function whose tensors may be on several devices, or undefined.
#define HB_AUTOCAST_ANYWHERE(function, cpu_class, cuda_class, ...)                                 \
  struct AutocastOp {                                                                              \
    static constexpr ::hb::autocast::OpEntry entry() {                                             \
      return {#function, ::hb::autocast::OpClass::cpu_class, ::hb::autocast::OpClass::cuda_class}; \
    }                                                                                              \
  };                                                                                               \
  (void)::hb::autocast::Registered<AutocastOp>::done;                                              \
  if (HB_UNLIKELY(::hb::front::active != 0)) {                                                     \
    HB_WATCHED_FUNCTION(function, __VA_ARGS__);                                                    \
    if (const auto hb_plan = ::hb::autocast::plan_for(AutocastOp::entry(), __VA_ARGS__))           \
      return ::hb::autocast::run(                                                                  \
          hb_plan, [](const auto&... hb_args) { return function(hb_args...); }, __VA_ARGS__);      \
  }                                                                                                \
  static_assert(true, "")

}  // namespace hb::autocast
