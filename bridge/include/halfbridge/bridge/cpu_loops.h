#pragma once
// <ATen/native/cpu/Loops.h>: a function of elements, called for all operands of a TensorIterator.

#include <tuple>
#include <utility>

#include <halfbridge/bridge/function_traits.h>
#include <halfbridge/bridge/tensor_iterator.h>
#include <halfbridge/error.h>

namespace hb::bridge::loops {

template <typename F>
using traits_of = signatures::infer_function_traits_t<std::decay_t<F>>;

namespace detail {
template <typename T>
void check_operand(const TensorIteratorBase& iter, int64_t arg) {
  HB_CHECK(iter.dtype(arg) == CppTypeToScalarType<T>::value, "[cpu_kernel] expected operand ", arg, " of dtype ",
           CppTypeToScalarType<T>::value, ", as the function has it, got ", iter.dtype(arg));
}

template <typename Args, size_t... I>
void check_inputs(const TensorIteratorBase& iter, std::index_sequence<I...>) {
  (check_operand<std::decay_t<std::tuple_element_t<I, Args>>>(iter, iter.noutputs() + static_cast<int64_t>(I)), ...);
}

template <typename Args, typename F, size_t... I>
decltype(auto) call(const F& op, char* const* inputs, const int64_t* strides, int64_t i, std::index_sequence<I...>) {
  return op(*reinterpret_cast<const std::decay_t<std::tuple_element_t<I, Args>>*>(inputs[I] + i * strides[I])...);
}

template <typename R, size_t... I>
void store(const R& results, char* const* outputs, const int64_t* strides, int64_t i, std::index_sequence<I...>) {
  ((*reinterpret_cast<std::tuple_element_t<I, R>*>(outputs[I] + i * strides[I]) = std::get<I>(results)), ...);
}

template <typename Vector, typename F, size_t... I>
Vector call_vector(const F& op, char* const* inputs, int64_t offset, std::index_sequence<I...>) {
  return op(((void)I, Vector::loadu(inputs[I] + offset))...);
}

/// The loop over one dimension, after a look at the dtypes.
template <typename F>
auto loop_over(const TensorIteratorBase& iter, const F& op) {
  using Traits = traits_of<F>;
  using R = typename Traits::return_type;
  using Args = signatures::to_tuple_t<typename Traits::parameter_types>;
  using Each = std::make_index_sequence<Traits::number_of_parameters>;
  HB_CHECK(iter.ninputs() == static_cast<int64_t>(Traits::number_of_parameters), "[cpu_kernel] expected ",
           Traits::number_of_parameters, " inputs, as the function has parameters, got ", iter.ninputs());
  check_inputs<Args>(iter, Each{});
  if constexpr (!std::is_void_v<R>) check_operand<R>(iter, 0);
  return [&op, outputs = iter.noutputs()](char** data, const int64_t* strides, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      if constexpr (std::is_void_v<R>)
        call<Args>(op, data + outputs, strides + outputs, i, Each{});
      else
        *reinterpret_cast<R*>(data[0] + i * strides[0]) = call<Args>(op, data + outputs, strides + outputs, i, Each{});
    }
  };
}
}  // namespace detail

/// output = op(inputs…) for each element, on several threads. `op` takes values of the operands' dtypes.
template <typename F>
void cpu_kernel(TensorIteratorBase& iter, F&& op, int64_t grain_size = internal::GRAIN_SIZE) {
  iter.for_each(detail::loop_over(iter, op), grain_size);
  iter.cast_outputs();
}

/// The same; `vector_op` computes whole vectors (at::vec::Vectorized) where all operands are contiguous.
template <typename F, typename V>
void cpu_kernel_vec(TensorIteratorBase& iter, F&& op, V&& vector_op, int64_t grain_size = internal::GRAIN_SIZE) {
  using Args = signatures::to_tuple_t<typename traits_of<F>::parameter_types>;
  using Vector = typename traits_of<V>::return_type;
  const auto single = detail::loop_over(iter, op);
  iter.for_each(
      [&](char** data, const int64_t* strides, int64_t size) {
        constexpr int64_t kItem = sizeof(typename Vector::value_type);
        int64_t done = 0;
        bool contiguous = true;
        for (int arg = 0; arg < iter.ntensors(); ++arg) contiguous = contiguous && strides[arg] == kItem;
        for (; contiguous && done + Vector::size() <= size; done += Vector::size())
          detail::call_vector<Vector>(vector_op, data + 1, done * kItem,
                                      std::make_index_sequence<std::tuple_size_v<Args>>{})
              .store(data[0] + done * kItem);
        SmallVector<char*, 4> rest(data, data + iter.ntensors());
        for (int arg = 0; arg < iter.ntensors(); ++arg) rest[arg] += done * strides[arg];
        if (done < size) single(rest.data(), strides, size - done);
      },
      grain_size);
  iter.cast_outputs();
}

/// The same on the calling thread, one element after the other; `op` may return nothing.
template <typename F>
void cpu_serial_kernel(TensorIteratorBase& iter, F&& op) {
  iter.serial_for_each(detail::loop_over(iter, op), {0, iter.numel()});
  iter.cast_outputs();
}

/// `op` returns a tuple, an element of which goes to each output.
template <typename F>
void cpu_kernel_multiple_outputs(TensorIteratorBase& iter, F&& op, int64_t grain_size = internal::GRAIN_SIZE) {
  using Traits = traits_of<F>;
  using R = typename Traits::return_type;
  using Args = signatures::to_tuple_t<typename Traits::parameter_types>;
  using Each = std::make_index_sequence<Traits::number_of_parameters>;
  detail::check_inputs<Args>(iter, Each{});
  iter.for_each(
      [&op, outputs = iter.noutputs()](char** data, const int64_t* strides, int64_t size) {
        for (int64_t i = 0; i < size; ++i)
          detail::store(detail::call<Args>(op, data + outputs, strides + outputs, i, Each{}), data, strides, i,
                        std::make_index_sequence<std::tuple_size_v<R>>{});
      },
      grain_size);
  iter.cast_outputs();
}

}  // namespace hb::bridge::loops
