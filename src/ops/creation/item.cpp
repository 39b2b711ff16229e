// One element as a number of the host's.
#include <halfbridge/ops.h>
#include <halfbridge/ops/amp.h>

#include "core/recorder.h"

namespace hb {

namespace {
thread_local uint64_t reads = 0;
}
uint64_t host_reads() { return reads; }

Scalar Tensor::item() const {
  ++reads;
  if (HB_UNLIKELY(capture::any_recording())) capture::tell_refusal("item", "gives a value to the host");
  HB_CHECK(numel() == 1, "[item] a Tensor with ", numel(), " elements cannot be converted to Scalar");
  const Tensor here = is_cpu() ? *this : cpu();
  const void* p = here.impl().raw_data();
  switch (scalar_type()) {
#define HB_ITEM(T, Name) \
  case ScalarType::Name: \
    return Scalar(*static_cast<const T*>(p));
    HB_FORALL_DTYPES(HB_ITEM)
#undef HB_ITEM
    default:
      HB_NOT_SUPPORTED("[item] dtype ", scalar_type(), " is not supported");
  }
}

bool Tensor::is_nonzero() const {
  HB_CHECK(numel() == 1, "[is_nonzero] Boolean value of Tensor with ",
           numel() == 0 ? "no values" : "more than one value", " is ambiguous");
  const Scalar value = item();
  return value.isComplex() ? value.toComplexDouble() != Complex<double>(0) : value.toBool();
}

}  // namespace hb
