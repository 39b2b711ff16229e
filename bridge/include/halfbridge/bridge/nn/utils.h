#pragma once
// Gradient clipping, parameters as one vector, packed sequences.

#include <initializer_list>
#include <optional>
#include <tuple>
#include <vector>

#include <halfbridge/bridge/nn/fwd.h>
#include <halfbridge/bridge/nn/rnn_functions.h>
#include <halfbridge/ops.h>

namespace hb::bridge::nn::utils {
inline namespace functions {

/// Scales the gradients in place so that their total norm is at most max_norm; returns the norm before.
HB_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false);
HB_API double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false);
HB_API double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false);
/// Clamps the gradients in place to [-clip_value, clip_value].
HB_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
HB_API void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value);
HB_API void clip_grad_value_(Tensor parameter, double clip_value);

/// All values in one 1-d tensor.
HB_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Makes the parameters views of parts of the vector.
HB_API void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters);

}  // namespace functions

namespace rnn {

HB_API Tensor invert_permutation(const Tensor& permutation);

/// Sequences of different lengths, longest first, without padding: the values of step 0 of all, of step 1, ...
class HB_API PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});
  /// (total steps, features…)
  const Tensor& data() const { return data_; }
  /// How many sequences have a step t; int64.
  const Tensor& batch_sizes() const { return batch_sizes_; }
  /// Where the sequences stood before they were sorted, and back; undefined if they were sorted already.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  PackedSequence pin_memory() const;
  PackedSequence to(TensorOptions options) const;
  PackedSequence cuda() const { return to(kCUDA); }
  PackedSequence cpu() const { return to(kCPU); }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// input (T, B, …), or (B, T, …) with batch_first; lengths (B).
HB_API PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false,
                                           bool enforce_sorted = true);
/// The padded tensor and the lengths.
HB_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                      double padding_value = 0.0,
                                                      std::optional<int64_t> total_length = std::nullopt);
HB_API PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true);

}  // namespace rnn
}  // namespace hb::bridge::nn::utils
