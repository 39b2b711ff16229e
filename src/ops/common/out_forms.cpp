// The functions that ops/call_forms.h and the headers beside it declare, from the same rows.
#include "ops/common/out_offer.h"

#define HB_DEFINE_CALL_FORMS
#include <halfbridge/engine.h>

namespace hb {

Tensor& repeat_out(Tensor& out, const Tensor& self, IntArrayRef repeats) {
  ops::OutScope scope;
  return ops::write_out("repeat", out, self.repeat(repeats));
}
Tensor& zeros_out(Tensor& out, IntArrayRef size) { return out.resize_(size), out.zero_(); }
Tensor& ones_out(Tensor& out, IntArrayRef size) { return out.resize_(size), out.fill_(1); }
Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& value) { return out.resize_(size), out.fill_(value); }

}  // namespace hb
