#pragma once
// How graph mode (graph/) listens to the work of a thread: the calls of kernels (backend/captured.h), and whose memory
// they work on.

#include <functional>
#include <memory>

#include <halfbridge/tensor.h>

#include "backend/captured.h"

namespace hb::capture {

enum class Numbers { compare, update };
/// Brings the numbers of a recorded call up to date with where the program keeps them, or compares them. False: they
/// differ, or the call is no longer the one to make.
using Refresh = std::function<bool(Call&, Numbers)>;
/// Is given a value that a replay made, where the step leaves one.
using Give = std::function<void(const Tensor& value)>;
/// The name of what is no longer as it was when the step was recorded; null where all is.
using Differs = std::function<const char*()>;

class Recorder {
 public:
  /// Before the call runs. Kernels within kernels are not told.
  virtual void call(std::unique_ptr<Call> call, const Device& device) = 0;
  virtual void refuse(const char* name, const char* why) = 0;
  /// A tensor that a function is about to give to kernels: its memory is known from here on.
  virtual void uses(const Tensor& t) = 0;
  /// The library itself keeps this tensor beyond the step. If it lives then, `give` gets that of each replay; null: the
  /// library does without.
  virtual void keeps(const Tensor& t, Give give) = 0;
  /// What keeps the numbers of the last call up to date.
  virtual void follow(Refresh refresh) = 0;
  /// What the step depends on beside its calls.
  virtual void depends(Differs differs) = 0;
  /// A function returns `value` to the program, which is that of `number` (float64, one element), whether or not the
  /// program looks at it.
  virtual void returns(const Tensor& number, double value) = 0;
  /// Around an optimizer's step.
  virtual void step_begins() = 0;
  virtual void step_ends() = 0;
  /// The backward pass is about to give this leaf a gradient.
  virtual void leaf(const Tensor& leaf) = 0;
  /// The step asks a tensor for its gradient, to read it or to drop it.
  virtual void looks_at_gradient(const Tensor& t) = 0;
  virtual void made(const TensorImpl& tensor) = 0;
  virtual bool was_made(const Tensor& tensor) = 0;
  virtual void allocated(const StorageImpl& storage) = 0;
  /// The program takes the address of that memory.
  virtual void shown(const StorageImpl& storage) = 0;
  /// Told by any thread.
  virtual void gone(const TensorImpl& tensor) noexcept = 0;
  virtual void freed(const StorageImpl& storage) noexcept = 0;

 protected:
  ~Recorder() = default;
};

/// Of this thread; null where it does not record, or is within a kernel.
Recorder* recorder() noexcept;
/// This thread records from here on, or, with null, no longer.
void set_recorder(Recorder* recorder) noexcept;

/// Changes whenever a module turns to training or evaluation, and is what it was when the module turns back.
extern std::atomic<uint64_t> module_modes;
void flip_mode(const void* module) noexcept;
/// The same of the modules that this thread turned.
uint64_t modes_of_thread() noexcept;

inline void uses(const Tensor& t) {
  if (HB_LIKELY(!any_recording())) return;
  if (Recorder* r = recorder(); r && t.defined()) r->uses(t);
}
/// Whether this thread records a step that has not made the tensor.
inline bool is_from_before(const Tensor& t) {
  if (HB_LIKELY(!any_recording())) return false;
  Recorder* const r = recorder();
  return r && !r->was_made(t);
}
inline void keeps(const Tensor& t, const Give& give = nullptr) {
  if (HB_LIKELY(!any_recording())) return;
  if (Recorder* r = recorder()) r->keeps(t, give);
}
inline void depends(const Differs& differs) {
  if (HB_LIKELY(!any_recording())) return;
  if (Recorder* r = recorder()) r->depends(differs);
}
inline void looks_at_gradient(const Tensor& t) {
  if (HB_LIKELY(!any_recording())) return;
  if (Recorder* r = recorder()) r->looks_at_gradient(t);
}
/// To this thread's recorder, if there is one.
void tell_shown(const StorageImpl& storage);
/// Hands the end of something to all recorders.
void tell_freed(const StorageImpl& storage) noexcept;
void tell_gone(const TensorImpl& tensor) noexcept;

}  // namespace hb::capture
