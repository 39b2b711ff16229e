#pragma once
// Forms of functions that few programs call: new tensors written to a tensor of the caller's, and copies of what a view
// shows. Only declarations; src/ops/common/rare_forms.cpp makes the functions, from the same rows.

#include <vector>

#include <halfbridge/ops/call_forms.h>

namespace hb {

#ifdef HB_DEFINE_RARE_FORMS
#define HB_RARE(...) \
  { __VA_ARGS__ }
#else
#define HB_RARE(...) ;
#endif
#define HB_UNPACK(...) __VA_ARGS__

// --- new tensors in `out`, which takes the shape; the values are those of its dtype

#define HB_NEW_OUT(name, params, size, ...) \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params) HB_RARE(resized(#name, out, size); return __VA_ARGS__;)
#define HB_FORMAT std::optional<MemoryFormat> memory_format = std::nullopt

HB_NEW_OUT(empty_like, (const Tensor& self, HB_FORMAT), self.sizes(), out)
HB_NEW_OUT(zeros_like, (const Tensor& self, HB_FORMAT), self.sizes(), out.zero_())
HB_NEW_OUT(ones_like, (const Tensor& self, HB_FORMAT), self.sizes(), out.fill_(1))
HB_NEW_OUT(full_like, (const Tensor& self, const Scalar& value, HB_FORMAT), self.sizes(), out.fill_(value))
HB_NEW_OUT(rand_like, (const Tensor& self, HB_FORMAT), self.sizes(), out.uniform_())
HB_NEW_OUT(rand_like, (const Tensor& self, std::optional<Generator> generator, HB_FORMAT), self.sizes(),
           out.uniform_(0, 1, generator))
HB_NEW_OUT(randn_like, (const Tensor& self, HB_FORMAT), self.sizes(), out.normal_())
HB_NEW_OUT(randn_like, (const Tensor& self, std::optional<Generator> generator, HB_FORMAT), self.sizes(),
           out.normal_(0, 1, generator))
HB_NEW_OUT(randint_like, (const Tensor& self, int64_t high, HB_FORMAT), self.sizes(), out.random_(0, high))
HB_NEW_OUT(randint_like, (const Tensor& self, int64_t high, std::optional<Generator> generator, HB_FORMAT),
           self.sizes(), out.random_(0, high, generator))
HB_NEW_OUT(randint_like, (const Tensor& self, int64_t low, int64_t high, HB_FORMAT), self.sizes(),
           out.random_(low, high))
HB_NEW_OUT(randint_like, (const Tensor& self, int64_t low, int64_t high, std::optional<Generator> generator, HB_FORMAT),
           self.sizes(), out.random_(low, high, generator))
HB_NEW_OUT(new_empty, (const Tensor&, IntArrayRef size), size, out)
HB_NEW_OUT(new_zeros, (const Tensor&, IntArrayRef size), size, out.zero_())
HB_NEW_OUT(new_ones, (const Tensor&, IntArrayRef size), size, out.fill_(1))
HB_NEW_OUT(new_full, (const Tensor&, IntArrayRef size, const Scalar& value), size, out.fill_(value))
// Strides are out's own: contiguous where it takes another shape.
HB_NEW_OUT(empty_strided, (IntArrayRef size, IntArrayRef), size, out)
HB_NEW_OUT(new_empty_strided, (const Tensor&, IntArrayRef size, IntArrayRef), size, out)
HB_NEW_OUT(empty_permuted, (IntArrayRef size, IntArrayRef), size, out)
HB_NEW_OUT(scalar_tensor, (const Scalar& value), IntArrayRef(), out.fill_(value))
/// A memory format is an error: the layout is that of `out`.
HB_API Tensor& empty_out(Tensor& out, IntArrayRef size, HB_FORMAT);

/// A contiguous tensor whose dimensions lie in memory in the order of physical_layout, the outermost first.
HB_API Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, const TensorOptions& options = {});
HB_API Tensor empty_permuted(IntArrayRef size, IntArrayRef physical_layout, std::optional<ScalarType> dtype,
                             std::optional<Layout> layout, std::optional<Device> device,
                             std::optional<bool> pin_memory);

#define HB_SERIES_OUT(name, params, ...)                            \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params) HB_RARE( \
      const Tensor made = name(__VA_ARGS__, out.options()); return resized(#name, out, made.sizes()).copy_(made);)
HB_SERIES_OUT(fft_fftfreq, (int64_t n, double d = 1.0), n, d)
HB_SERIES_OUT(fft_rfftfreq, (int64_t n, double d = 1.0), n, d)
HB_SERIES_OUT(hann_window, (int64_t window_length), window_length)
HB_SERIES_OUT(hann_window, (int64_t window_length, bool periodic), window_length, periodic)
HB_SERIES_OUT(hamming_window, (int64_t window_length), window_length)
HB_SERIES_OUT(hamming_window, (int64_t window_length, bool periodic), window_length, periodic)
HB_SERIES_OUT(hamming_window, (int64_t window_length, bool periodic, double alpha), window_length, periodic, alpha)
HB_SERIES_OUT(hamming_window, (int64_t window_length, bool periodic, double alpha, double beta), window_length,
              periodic, alpha, beta)
HB_SERIES_OUT(blackman_window, (int64_t window_length), window_length)
HB_SERIES_OUT(blackman_window, (int64_t window_length, bool periodic), window_length, periodic)
HB_SERIES_OUT(bartlett_window, (int64_t window_length), window_length)
HB_SERIES_OUT(bartlett_window, (int64_t window_length, bool periodic), window_length, periodic)
HB_SERIES_OUT(kaiser_window, (int64_t window_length), window_length)
HB_SERIES_OUT(kaiser_window, (int64_t window_length, bool periodic), window_length, periodic)
HB_SERIES_OUT(kaiser_window, (int64_t window_length, bool periodic, double beta), window_length, periodic, beta)

// --- in-place functions that leave `self` as it is and give a new tensor, and the same into `out`

/// self with the values of src, broadcast.
HB_API Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking = false);
/// What set_ would make of self: a tensor of that memory.
HB_API Tensor set(const Tensor& self, const Storage& source);
HB_API Tensor set(const Tensor& self, const Storage& source, int64_t storage_offset, IntArrayRef size,
                  IntArrayRef stride = {});
HB_API Tensor set(const Tensor& self, const Tensor& source);
HB_API Tensor set(const Tensor& self);
HB_API Tensor resize(const Tensor& self, IntArrayRef size, HB_FORMAT);
HB_API Tensor lift(const Tensor& self);
HB_API Tensor lift_fresh(const Tensor& self);

#define HB_MADE_OUT(name, params, ...)                     \
  HB_API Tensor& name##_out(Tensor& out, HB_UNPACK params) \
      HB_RARE(ops::OutScope scope; return ops::write_out(#name, out, name(__VA_ARGS__));)
HB_MADE_OUT(copy, (const Tensor& self, const Tensor& src, bool non_blocking = false), self, src, non_blocking)
HB_MADE_OUT(set, (const Tensor& self, const Storage& source), self, source)
HB_MADE_OUT(set,
            (const Tensor& self, const Storage& source, int64_t storage_offset, IntArrayRef size,
             IntArrayRef stride = {}),
            self, source, storage_offset, size, stride)
HB_MADE_OUT(set, (const Tensor& self, const Tensor& source), self, source)
HB_MADE_OUT(set, (const Tensor& self), self)
HB_MADE_OUT(zero, (const Tensor& self), self)
HB_MADE_OUT(lift, (const Tensor& self), self)
HB_MADE_OUT(linalg_ldl_solve, (const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian = false), LD,
            pivots, B, hermitian)
HB_MADE_OUT(_histogramdd_from_bin_cts,
            (const Tensor& self, IntArrayRef bins, std::optional<ArrayRef<double>> range = std::nullopt,
             const std::optional<Tensor>& weight = std::nullopt, bool density = false),
            self, bins, range, weight, density)
HB_MADE_OUT(_histogramdd_from_bin_tensors,
            (const Tensor& self, TensorList bins, const std::optional<Tensor>& weight = std::nullopt,
             bool density = false),
            self, bins, weight, density)
HB_API std::tuple<Tensor&, Tensor&> linalg_ldl_factor_out(Tensor& LD, Tensor& pivots, const Tensor& self,
                                                          bool hermitian = false);
HB_API std::tuple<Tensor&, Tensor&, Tensor&> linalg_ldl_factor_ex_out(Tensor& LD, Tensor& pivots, Tensor& info,
                                                                      const Tensor& self, bool hermitian = false,
                                                                      bool check_errors = false);
HB_API std::tuple<Tensor&, Tensor&, Tensor&> native_batch_norm_out(
    Tensor& out, Tensor& save_mean, Tensor& save_invstd, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var, bool training, double momentum, double eps);
HB_API const Tensor& resize_out(const Tensor& out, const Tensor& self, IntArrayRef size, HB_FORMAT);
HB_API const Tensor& resize_as_out(const Tensor& out, const Tensor& self, const Tensor& the_template, HB_FORMAT);
HB_API Tensor& sparse_mask_out(Tensor& out, const Tensor& self, const Tensor& mask);

// --- copies of what views show: contiguous, with a gradient

#define HB_VIEW_COPY(name, node, params, args)                                           \
  HB_API Tensor name##_copy(const Tensor& self HB_TAIL params)                           \
      HB_RARE(return copy_of_view(node "_copy", self.name args, self);)                  \
          HB_API Tensor& name##_copy_out(Tensor& out, const Tensor& self HB_TAIL params) \
              HB_RARE(return write_copy(#name, out, self.name args);)
#include <halfbridge/ops/view_copies.def>
HB_API Tensor view_as_complex_copy(const Tensor& self);
HB_API Tensor& view_as_complex_copy_out(Tensor& out, const Tensor& self);
HB_API Tensor lift_fresh_copy(const Tensor& self);
HB_API Tensor& lift_fresh_copy_out(Tensor& out, const Tensor& self);

#define HB_PARTS_COPY(name, node, params, args)                                          \
  HB_API std::vector<Tensor> name##_copy(const Tensor& self HB_TAIL params)              \
      HB_RARE(return copies_of_views(node "_copy", self.name args, self);)               \
          HB_API void name##_copy_out(TensorList out, const Tensor& self HB_TAIL params) \
              HB_RARE(write_copies(#name "_copy", out, self.name args);)
HB_PARTS_COPY(split, "SplitBackward0", (int64_t split_size, int64_t dim = 0), (split_size, dim))
HB_PARTS_COPY(split_with_sizes, "SplitWithSizesBackward0", (IntArrayRef split_sizes, int64_t dim = 0),
              (split_sizes, dim))
HB_PARTS_COPY(unbind, "UnbindBackward0", (int64_t dim = 0), (dim))

/// Each of `out` takes the edges along one dimension.
HB_API void _histogramdd_bin_edges_out(TensorList out, const Tensor& self, IntArrayRef bins,
                                       std::optional<ArrayRef<double>> range = std::nullopt,
                                       const std::optional<Tensor>& weight = std::nullopt, bool density = false);
/// `out` keeps its dtype, which the result's must be.
HB_API Tensor& _to_dense_out(Tensor& out, const Tensor& self, std::optional<ScalarType> dtype = std::nullopt,
                             std::optional<bool> masked_grad = std::nullopt);
/// self's values in out's dtype.
HB_API Tensor& _to_copy_out(Tensor& out, const Tensor& self, bool non_blocking = false, HB_FORMAT);

#undef HB_PARTS_COPY
#undef HB_MADE_OUT
#undef HB_SERIES_OUT
#undef HB_NEW_OUT
#undef HB_FORMAT
#undef HB_UNPACK
#undef HB_RARE

}  // namespace hb
