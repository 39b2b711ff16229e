#include "core/geometry.h"

#include <algorithm>
#include <numeric>

#include <halfbridge/error.h>

namespace hb::geometry {

namespace {
/// Of sizes that may be too large, which numel() says before there is a tensor of them.
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
}  // namespace

bool is_contiguous(const DimVector& sizes, const DimVector& strides) {
  int64_t expected = 1;
  bool ok = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    ok = ok && strides[i] == expected;
    expected = times(expected, sizes[i]);
  }
  return ok;
}

namespace {
// Dimensions by falling stride; among equal strides by falling size, so that broadcast ones come last.
DimVector by_stride(const DimVector& sizes, const DimVector& strides) {
  DimVector order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return order;
}
}  // namespace

bool is_dense(const DimVector& sizes, const DimVector& strides) {
  if (is_contiguous(sizes, strides)) return true;
  DimVector kept_sizes, kept_strides;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    kept_sizes.push_back(sizes[i]);
    kept_strides.push_back(strides[i]);
  }
  const DimVector order = by_stride(kept_sizes, kept_strides);
  int64_t expected = 1;
  for (size_t k = order.size(); k-- > 0;) {
    if (kept_strides[order[k]] != expected) return false;
    expected = times(expected, kept_sizes[order[k]]);
  }
  return true;
}

bool overlaps_itself(const DimVector& sizes, const DimVector& strides) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return false;
    if (sizes[i] > 1 && strides[i] == 0) return true;
  }
  return false;
}

bool may_overlap_itself(const DimVector& sizes, const DimVector& strides) {
  const DimVector order = by_stride(sizes, strides);
  int64_t reach = 0;  // of the dimensions further inside
  for (size_t k = order.size(); k-- > 0;) {
    const int64_t size = sizes[order[k]], stride = strides[order[k]];
    if (size == 0) return false;
    if (size == 1) continue;
    if (stride <= reach) return true;
    reach += (size - 1) * stride;
  }
  return false;
}

DimVector contiguous_strides(const DimVector& sizes) {
  DimVector strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = times(strides[i], std::max<int64_t>(sizes[i], 1));
  return strides;
}

DimVector channels_last_strides(const DimVector& sizes) {
  HB_CHECK(sizes.size() == 4 || sizes.size() == 5, "[memory_format] channels_last expects 4 or 5 dimensions, got ",
           sizes.size());
  return channels_inmost_strides(sizes);
}

DimVector channels_inmost_strides(const DimVector& sizes) {
  DimVector strides(sizes.size());
  strides[1] = 1;
  int64_t next = std::max<int64_t>(sizes[1], 1);
  for (size_t i = sizes.size() - 1; i >= 2; --i) {
    strides[i] = next;
    next = times(next, std::max<int64_t>(sizes[i], 1));
  }
  strides[0] = next;
  return strides;
}

bool is_channels_last(const DimVector& sizes, const DimVector& strides) {
  if (sizes.size() != 4 && sizes.size() != 5) return false;
  const DimVector wanted = channels_last_strides(sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && strides[i] != wanted[i]) return false;
  return true;
}

// A stride of 0 (an expanded dimension) says nothing of the order: such a dimension stays where it stands, as in
// LibTorch.
DimVector dense_strides_like(const DimVector& sizes, const DimVector& strides) {
  return dense_strides_like(sizes, ArrayRef<DimVector>(strides));
}

DimVector dense_strides_like(const DimVector& sizes, ArrayRef<DimVector> operands) {
  const size_t n = sizes.size();
  // 1: dimension a lies outside of b, -1: inside, 0: no operand says.
  const auto compare = [&](int64_t a, int64_t b) {
    for (const DimVector& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  DimVector inner_first(n);
  for (size_t k = 0; k < n; ++k) inner_first[k] = static_cast<int64_t>(n - 1 - k);
  for (size_t i = 1; i < n; ++i) {
    size_t at = i;
    for (size_t below = i; below-- > 0;) {
      const int order = compare(inner_first[below], inner_first[at]);
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(inner_first[below], inner_first[at]);
      at = below;
    }
  }
  DimVector out(n);
  int64_t next = 1;
  for (int64_t d : inner_first) {
    out[d] = next;
    next = times(next, std::max<int64_t>(sizes[d], 1));
  }
  return out;
}

int64_t numel(const DimVector& sizes) {
  int64_t n = 1;
  bool overflow = false;
  for (int64_t s : sizes) overflow |= __builtin_mul_overflow(n, s, &n);
  HB_CHECK(!overflow, "[numel] Storage size calculation overflowed with sizes=", IntArrayRef(sizes),
           ": integer multiplication overflow");
  return n;
}

size_t bytes(int64_t elements, size_t item) {
  int64_t n;
  const bool overflow = __builtin_mul_overflow(elements, static_cast<int64_t>(item), &n);
  HB_CHECK(!overflow && n >= 0, "[empty] Storage size calculation overflowed: ", elements, " elements of ", item,
           " bytes");
  return static_cast<size_t>(n);
}

int64_t extent(const DimVector& sizes, const DimVector& strides, int64_t offset) {
  int64_t last = 1, reach;
  bool overflow = __builtin_add_overflow(last, offset, &last);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    overflow |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  HB_CHECK(!overflow, "[empty] Storage size calculation overflowed with sizes=", IntArrayRef(sizes),
           ", strides=", IntArrayRef(strides), " and offset ", offset);
  return last;
}

bool view_strides(const DimVector& old_sizes, const DimVector& old_strides, const DimVector& sizes,
                  DimVector& strides) {
  strides = DimVector(sizes.size());
  if (numel(old_sizes) == 0) {
    strides = contiguous_strides(sizes);
    return true;
  }
  if (old_sizes.empty()) {
    std::fill(strides.begin(), strides.end(), 1);
    return true;
  }
  int64_t view_d = static_cast<int64_t>(sizes.size()) - 1;
  int64_t chunk_stride = old_strides.back(), tensor_numel = 1, view_numel = 1;
  for (int64_t d = static_cast<int64_t>(old_sizes.size()) - 1; d >= 0; --d) {
    tensor_numel = times(tensor_numel, old_sizes[d]);
    // A chunk ends where the next dimension out is not laid out around this one.
    if (d != 0 && (old_sizes[d - 1] == 1 || old_strides[d - 1] == tensor_numel * chunk_stride)) continue;
    while (view_d >= 0 && (view_numel < tensor_numel || sizes[view_d] == 1)) {
      strides[view_d] = view_numel * chunk_stride;
      view_numel = times(view_numel, sizes[view_d--]);
    }
    if (view_numel != tensor_numel) return false;
    if (d > 0) chunk_stride = old_strides[d - 1], tensor_numel = view_numel = 1;
  }
  return view_d == -1;
}

int64_t wrap_dim(const char* name, int64_t d, int64_t dim, bool wrap_scalar) {
  if (dim == 0) {
    HB_CHECK_INDEX(wrap_scalar, "[", name, "] dimension specified as ", d, " but tensor has no dimensions");
    dim = 1;
  }
  HB_CHECK_INDEX(d >= -dim && d < dim, "[", name, "] Dimension out of range (expected to be in range of [", -dim, ", ",
                 dim - 1, "], but got ", d, ")");
  return d < 0 ? d + dim : d;
}

DimVector infer_size(const char* name, IntArrayRef shape, int64_t numel) {
  DimVector out(shape);
  int64_t known = 1, hole = -1;
  bool overflow = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == -1) {
      HB_CHECK(hole < 0, "[", name, "] only one dimension can be inferred, got shape ", shape);
      hole = static_cast<int64_t>(i);
    } else {
      HB_CHECK(out[i] >= 0, "[", name, "] invalid shape dimension ", out[i], " at index ", i, " of shape ", shape);
      overflow |= __builtin_mul_overflow(known, out[i], &known);
    }
  }
  HB_CHECK(!overflow, "[", name, "] shape '", shape, "' is invalid for input of size ", numel);
  if (hole >= 0) {
    HB_CHECK(known != 0 || numel != 0, "[", name, "] cannot reshape tensor of 0 elements into shape ", shape,
             " because the unspecified dimension size -1 can be any value and is ambiguous");
    HB_CHECK(known != 0 && numel % known == 0, "[", name, "] shape '", shape, "' is invalid for input of size ", numel);
    out[hole] = numel / known;
  } else {
    HB_CHECK(known == numel, "[", name, "] shape '", shape, "' is invalid for input of size ", numel);
  }
  return out;
}

MemoryFormat channels_last_format(size_t dim) {
  return dim == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

}  // namespace hb::geometry
