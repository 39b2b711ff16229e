#include "backend/reduce.h"

#include "core/physical.h"

namespace hb {
namespace {

struct Dim {
  int64_t size, in, out;
};

/// Innermost first; merged where one continues the other.
size_t order(Dim* dims, size_t n) {
  for (size_t i = 1; i < n; ++i)
    for (size_t j = i; j > 0 && std::abs(dims[j].in) < std::abs(dims[j - 1].in); --j) std::swap(dims[j], dims[j - 1]);
  size_t kept = 0;
  for (size_t i = 0; i < n; ++i) {
    if (dims[i].size == 1) continue;
    if (kept > 0) {
      Dim& last = dims[kept - 1];
      if (dims[i].in == last.size * last.in && dims[i].out == last.size * last.out) {
        last.size *= dims[i].size;
        continue;
      }
    }
    dims[kept++] = dims[i];
  }
  return kept;
}

}  // namespace

ReduceLoop::ReduceLoop(const Tensor& out_tensor, const Tensor& in_tensor, uint64_t mask) {
  held = physical(in_tensor);
  const TensorImpl &i = held.impl(), &o = out_tensor.impl();
  in = static_cast<char*>(i.raw_data()), out = static_cast<char*>(o.raw_data());
  in_dtype = i.dtype(), out_dtype = o.dtype();
  const size_t n = i.sizes().size();
  HB_CHECK(n <= 64, "[reduce] expected at most 64 dimensions, got ", n);
  Dim keep[64], reduce[64];
  size_t keeps = 0, reduces = 0;
  const auto is = static_cast<int64_t>(i.itemsize()), os = static_cast<int64_t>(o.itemsize());
  for (size_t d = 0; d < n; ++d) {
    const Dim dim{i.sizes()[d], i.physical_strides()[d] * is, 0};
    if ((mask >> d) & 1) {
      reduce[reduces++] = dim;
      count *= dim.size;
    } else {
      keep[keeps] = dim;
      keep[keeps++].out = o.physical_strides()[d] * os;
      outputs *= dim.size;
    }
  }
  if (outputs == 0 || count == 0) return;
  keeps = order(keep, keeps), reduces = order(reduce, reduces);
  for (size_t d = 0; d < keeps; ++d)
    kept.push_back(keep[d].size), kept_in.push_back(keep[d].in), kept_out.push_back(keep[d].out);
  for (size_t d = 0; d < reduces; ++d) reduced.push_back(reduce[d].size), reduced_in.push_back(reduce[d].in);
  if (keeps == 0) kept.push_back(1), kept_in.push_back(0), kept_out.push_back(0);
  if (reduces == 0) reduced.push_back(1), reduced_in.push_back(0);
}

}  // namespace hb
