#pragma once
// <ATen/TensorIterator.h>: loops of a program's own over operands that broadcast together. The tensors are strided and
// in the CPU's memory.

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <halfbridge/array_ref.h>
#include <halfbridge/bridge/at_internal.h>
#include <halfbridge/bridge/small_vector.h>
#include <halfbridge/scalar.h>
#include <halfbridge/tensor.h>

namespace hb::bridge {
inline namespace api {

class TensorIterator;
class TensorIteratorConfig;
class SplitUntil32Bit;

/// An operand of an iterator: where it begins, and the strides in bytes by which it is walked.
struct OperandInfo {
  using StrideVector = SmallVector<int64_t, 6>;
  /// What the loop walks, and the program's own tensor where that has another dtype (else undefined).
  Tensor given, original;
  char* data = nullptr;
  StrideVector stride_bytes;
  bool is_output = false, is_const = false, is_read_write = false, will_resize = false;
  const Tensor& tensor() const { return given; }
  const Tensor& tensor_base() const { return given; }
  const Tensor& original_tensor() const { return original; }
  const Tensor& original_tensor_base() const { return original; }
  ScalarType current_dtype() const { return given.scalar_type(); }
};

/// Elements [begin, end).
struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// What TensorIteratorConfig::build() gives: a shape, and of each operand, outputs first, where it begins and the
/// strides in bytes by which it is walked, the innermost dimension first.
class HB_API TensorIteratorBase {
 public:
  using StrideVector = OperandInfo::StrideVector;
  using PtrVector = SmallVector<char*, 4>;
  using Loop = std::function<void(char** data, const int64_t* strides, int64_t size)>;
  using Loop2d = std::function<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  int ndim() const { return static_cast<int>(shape_.size()); }
  /// The innermost dimension first; neighbours that every operand walks as one are merged.
  IntArrayRef shape() const { return shape_; }
  int64_t numel() const;
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int noutputs() const { return outputs_; }
  int ninputs() const { return ntensors() - outputs_; }
  IntArrayRef strides(int64_t arg) const { return operands_[arg].stride_bytes; }
  void* data_ptr(int64_t arg) const { return operands_[arg].data; }
  ScalarType dtype(int64_t arg = 0) const { return tensor(arg).scalar_type(); }
  ScalarType input_dtype(int64_t arg = 0) const { return dtype(outputs_ + arg); }
  /// Throws unless the configuration asked for one.
  ScalarType common_dtype() const;
  Device device(int64_t arg = 0) const { return tensor(arg).device(); }
  DeviceType device_type(int64_t arg = 0) const { return device(arg).type(); }
  int64_t element_size(int64_t arg) const { return tensor(arg).element_size(); }
  bool is_contiguous() const;
  bool is_trivial_1d() const { return ndim() == 1; }
  bool is_scalar(int64_t arg) const { return tensor(arg).numel() == 1; }
  bool is_cpu_scalar(int64_t arg) const { return is_scalar(arg) && device(arg).is_cpu(); }
  const Tensor& tensor(int64_t arg) const { return operands_[arg].given; }
  const Tensor& output(int64_t arg = 0) const { return tensor(arg); }
  const Tensor& input(int64_t arg = 0) const { return tensor(outputs_ + arg); }
  const Tensor& tensor_base(int64_t arg) const { return tensor(arg); }
  const Tensor& output_base(int64_t arg = 0) const { return output(arg); }
  const Tensor& input_base(int64_t arg = 0) const { return input(arg); }
  const OperandInfo& operand(int64_t arg) const { return operands_[arg]; }
  const Tensor& maybe_get_output(int64_t arg = 0) const { return output(arg); }
  /// The first element of an operand as a `T`; the second form of the program's own tensor, where that has another
  /// dtype.
  template <typename T>
  T scalar_value(int64_t arg) const {
    return first_element(operands_[arg].given, operands_[arg].data).template to<T>();
  }
  template <typename T>
  T original_scalar_value(int64_t arg) const {
    const OperandInfo& o = operands_[arg];
    return o.original.defined() ? first_element(o.original, nullptr).template to<T>() : scalar_value<T>(arg);
  }
  void remove_operand(int64_t arg) { operands_.erase(operands_.begin() + arg); }
  /// Walks another memory with the same strides from now on.
  void unsafe_replace_operand(int64_t arg, void* data) { operands_[arg].data = static_cast<char*>(data); }
  /// The place of this iterator's first element in that which it was made from by narrow(), by dimensions.
  IntArrayRef view_offsets() const { return view_offsets_; }
  PtrVector get_base_ptrs() const;
  /// Strides of all operands along each dimension in turn, of at least two dimensions.
  StrideVector get_strides() const;
  StrideVector get_dim_strides(int dim) const;
  StrideVector get_inner_strides() const { return get_dim_strides(0); }
  bool has_contiguous_first_dim() const;

  // Reductions: outputs do not move along the dimensions that are reduced (their strides are 0).
  bool is_dim_reduced(int dim) const;
  int num_reduce_dims() const;
  int64_t num_output_elements() const;
  /// Calls `loop` with an iterator over what is reduced to each element of the output.
  void foreach_reduced_elt(const std::function<void(TensorIteratorBase&)>& loop, bool parallelize = true);
  /// Calls `loop` for all elements, and on several threads only for those of different outputs.
  void parallel_reduce(const Loop2d& loop);

  /// Leaves elements [start, start + size) of a dimension.
  void narrow(int dim, int64_t start, int64_t size);
  /// Leaves one element of each dimension from `start_dim` on.
  void select_all_keeping_dim(int start_dim, IntArrayRef indices);
  /// Halves the iterator: the result has the first half.
  std::unique_ptr<TensorIterator> split(int dim);
  int get_dim_to_split() const;
  bool can_use_32bit_indexing() const;
  /// Iterators over parts that can_use_32bit_indexing(), all together over all elements.
  SplitUntil32Bit with_32bit_indexing() const;
  bool is_final_output() const { return true; }
  bool should_accumulate() const { return false; }

  // What TensorIterator's functions make, in place.
  void build(TensorIteratorConfig& config);
  void build_binary_op(const Tensor& out, const Tensor& a, const Tensor& b);
  void build_borrowing_binary_op(const Tensor& out, const Tensor& a, const Tensor& b) { build_binary_op(out, a, b); }
  void build_binary_float_op(const Tensor& out, const Tensor& a, const Tensor& b);
  void build_borrowing_binary_float_op(const Tensor& out, const Tensor& a, const Tensor& b) {
    build_binary_float_op(out, a, b);
  }
  void build_comparison_op(const Tensor& out, const Tensor& a, const Tensor& b);
  void build_borrowing_comparison_op(const Tensor& out, const Tensor& a, const Tensor& b) {
    build_comparison_op(out, a, b);
  }
  void build_borrowing_except_last_argument_comparison_op(const Tensor& out, const Tensor& a, const Tensor& b) {
    build_comparison_op(out, a, b);
  }
  void build_ternary_op(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c);
  void build_unary_op(const Tensor& out, const Tensor& a);
  void build_borrowing_unary_op(const Tensor& out, const Tensor& a) { build_unary_op(out, a); }
  void build_output_borrowing_argument_owning_unary_op(const Tensor& out, const Tensor& a) { build_unary_op(out, a); }
  void build_unary_float_op(const Tensor& out, const Tensor& a);
  void build_borrowing_unary_float_op(const Tensor& out, const Tensor& a) { build_unary_float_op(out, a); }
  void build_borrowing_unary_force_boolean_op(const Tensor& out, const Tensor& a);
  /// Copies results that were computed in the common dtype to the outputs that the program gave.
  void cast_outputs();

  /// Calls `loop(data, strides, size)`, or `loop(data, strides, size0, size1)` with the strides of a second dimension
  /// behind those of the first, for parts of the elements, on several threads if there are more than `grain_size`.
  template <typename F>
  void for_each(const F& loop, int64_t grain_size = internal::GRAIN_SIZE) {
    run(loop_of(loop), grain_size);
  }
  /// For elements [begin, end), counted with the innermost dimension first, on this thread.
  template <typename F>
  void serial_for_each(const F& loop, Range range) const {
    run_range(loop_of(loop), range.begin, range.end);
  }

 private:
  friend class TensorIteratorConfig;
  template <typename F>
  static Loop loop_of(const F& loop) {
    if constexpr (std::is_invocable_v<F, char**, const int64_t*, int64_t>)
      return loop;
    else
      return [&loop](char** data, const int64_t* strides, int64_t size) {
        // a second dimension of one element, whose strides nobody walks
        loop(data, strides, size, 1);
      };
  }
  void run(const Loop& loop, int64_t grain_size);
  void run_range(const Loop& loop, int64_t begin, int64_t end) const;
  void set_geometry(IntArrayRef shape);
  void merge_dimensions();
  static Scalar first_element(const Tensor& t, const char* data);

  std::vector<OperandInfo> operands_;
  StrideVector shape_, view_offsets_;
  int outputs_ = 0;
  std::optional<ScalarType> common_;
};

class HB_API TensorIterator : public TensorIteratorBase {
 public:
  /// Inputs are promoted, as of an element-wise function; an output that is not defined is made, and is
  /// the iterator's output().
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator borrowing_binary_op(const Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator unary_op(Tensor& out, const Tensor& a);
  /// Integers are computed in the default dtype.
  static TensorIterator binary_float_op(Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator unary_float_op(Tensor& out, const Tensor& a);
  /// The result is bool unless `out` has a dtype.
  static TensorIterator comparison_op(Tensor& out, const Tensor& a, const Tensor& b);
  /// `out` (`out1` and `out2`) has the sizes of `a`, and strides of 0 where it is reduced.
  static TensorIterator reduce_op(Tensor& out, const Tensor& a);
  static TensorIterator reduce_op(Tensor& out1, Tensor& out2, const Tensor& a);
  static TensorIterator nullary_op(Tensor& out);
  static TensorIterator borrowing_nullary_op(const Tensor& out);
};

/// What with_32bit_indexing() gives, for loops over iterators.
class HB_API SplitUntil32Bit {
 public:
  explicit SplitUntil32Bit(const TensorIteratorBase& whole);
  auto begin() const { return parts_->begin(); }
  auto end() const { return parts_->end(); }

 private:
  std::shared_ptr<std::vector<TensorIterator>> parts_;
};

/// Says what an iterator is made of. Outputs are added before inputs.
class HB_API TensorIteratorConfig {
 public:
  TensorIteratorConfig& add_output(const Tensor& output);
  TensorIteratorConfig& add_input(const Tensor& input);
  TensorIteratorConfig& add_const_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_owned_output(const Tensor& output) { return add_output(output); }
  TensorIteratorConfig& add_owned_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_owned_const_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_borrowed_output(const Tensor& output) { return add_output(output); }
  TensorIteratorConfig& add_borrowed_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_borrowed_const_input(const Tensor& input) { return add_input(input); }

  /// On unless it is said otherwise: operands of different dtypes are an error.
  TensorIteratorConfig& check_all_same_dtype(bool on) { return set(same_dtype_, on); }
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool on);
  TensorIteratorConfig& promote_integer_inputs_to_float(bool on) { return set(integers_to_float_, on); }
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool on);
  TensorIteratorConfig& enforce_safe_casting_to_output(bool on) { return set(safe_cast_, on); }
  /// On unless it is said otherwise: an output of another shape is resized; off, it is an error.
  TensorIteratorConfig& resize_outputs(bool on) { return set(resize_, on); }
  TensorIteratorConfig& set_check_mem_overlap(bool on) { return set(check_overlap_, on); }
  // What no loop on the CPU depends on.
  TensorIteratorConfig& check_all_same_device(bool /*on*/) { return *this; }
  TensorIteratorConfig& allow_cpu_scalars(bool /*on*/) { return *this; }
  TensorIteratorConfig& enforce_linear_iteration(bool /*on*/ = true) { return *this; }
  /// Outputs have the inputs' sizes, and strides of 0 where they are reduced.
  TensorIteratorConfig& is_reduction(bool on) { return set(reduction_, on); }
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype);
  TensorIteratorConfig& declare_static_device(Device device);
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device);
  /// The loop has this shape whatever the outputs' are, which are not checked; after resize_outputs(false).
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape);
  /// The loop does not walk the dimensions `squash`: it finds the first element of each.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash);

  TensorIterator build();

 private:
  TensorIteratorConfig& set(bool& flag, bool on) {
    flag = on;
    return *this;
  }
  std::vector<int64_t> broadcast_shape() const;
  std::optional<ScalarType> common_dtype() const;
  void check_dtypes() const;
  void prepare_output(OperandInfo& operand, IntArrayRef shape, std::optional<ScalarType> common) const;

  std::vector<Tensor> outputs_, inputs_;
  bool same_dtype_ = true, promote_ = false, integers_to_float_ = false, cast_outputs_ = false, safe_cast_ = false;
  bool resize_ = true, check_overlap_ = true, reduction_ = false;
  std::optional<ScalarType> static_dtype_;
  std::optional<std::vector<int64_t>> static_shape_;
};

}  // namespace api
}  // namespace hb::bridge
