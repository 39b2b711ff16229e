#pragma once
// Descriptions of primitives, which oneDNN 2 makes in two steps and oneDNN 3 in one.

#include <dnnl.hpp>

namespace hb::cpu {

/// What `Primitive` computes of `arguments`, in their order in oneDNN's constructors. `choose` may go on to another
/// implementation: later than that oneDNN 2 would read what is no longer there.
template <class Primitive, class Choose, class... Arguments>
typename Primitive::primitive_desc describe_chosen(const Choose& choose, const dnnl::engine& engine,
                                                   const dnnl::primitive_attr& attr, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  typename Primitive::primitive_desc pd{engine, arguments..., attr};
#else
  const typename Primitive::desc desc(arguments...);  // next_impl() reads it
  typename Primitive::primitive_desc pd{desc, attr, engine};
#endif
  choose(pd);
  return pd;
}
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                                            const Arguments&... arguments) {
  return describe_chosen<Primitive>([](const auto&) {}, engine, attr, arguments...);
}

/// The same for a backward primitive; `forward` describes the primitive whose gradient it computes.
template <class Primitive, class Choose, class... Arguments>
typename Primitive::primitive_desc describe_backward_chosen(const Choose& choose, const dnnl::engine& engine,
                                                            const dnnl::primitive_attr& attr,
                                                            const dnnl::convolution_forward::primitive_desc& forward,
                                                            const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  typename Primitive::primitive_desc pd{engine, arguments..., forward, attr};
#else
  const typename Primitive::desc desc(arguments...);
  typename Primitive::primitive_desc pd{desc, attr, engine, forward};
#endif
  choose(pd);
  return pd;
}
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe_backward(const dnnl::engine& engine, const dnnl::primitive_attr& attr,
                                                     const dnnl::convolution_forward::primitive_desc& forward,
                                                     const Arguments&... arguments) {
  return describe_backward_chosen<Primitive>([](const auto&) {}, engine, attr, forward, arguments...);
}

/// Multiplies the result of a primitive by `alpha`, then adds `beta` times what its destination held.
inline void scale_and_add(dnnl::primitive_attr& attr, float alpha, float beta) {
  dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
  if (alpha != 1) ops.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0);
#else
  if (alpha != 1) attr.set_output_scales(0, {alpha});
#endif
  if (beta != 0) ops.append_sum(beta);
  attr.set_post_ops(ops);
}

}  // namespace hb::cpu
