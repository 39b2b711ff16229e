// Copies, shapes, checks and indices.
#include <halfbridge/bridge/underscored.h>

#include <halfbridge/indexing.h>
#include <halfbridge/ivalue_containers.h>
#include <halfbridge/ops.h>

namespace hb::bridge {
inline namespace api {

#define HB_CAST(Name) \
  Tensor _cast_##Name(const Tensor& self, bool non_blocking) { return self.to(TensorOptions(k##Name), non_blocking); }
HB_CAST(Byte)
HB_CAST(Char)
HB_CAST(Double)
HB_CAST(Float)
HB_CAST(Half)
HB_CAST(Int)
HB_CAST(Long)
HB_CAST(Short)
#undef HB_CAST

Tensor _to_copy(const Tensor& self, TensorOptions options, bool non_blocking,
                std::optional<MemoryFormat> memory_format) {
  return self.to(options, non_blocking, /*copy=*/true, memory_format);
}
Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
                std::optional<MemoryFormat> memory_format) {
  return self.to(dtype, layout, device, pin_memory, non_blocking, /*copy=*/true, memory_format);
}
std::vector<Tensor> _to_cpu(TensorList tensors) {
  std::vector<Tensor> all;
  all.reserve(tensors.size());
  for (const Tensor& t : tensors) all.push_back(t.cpu());
  return all;
}
Tensor _conj_copy(const Tensor& self) { return self.conj().clone(); }
Tensor _pin_memory(const Tensor& self, std::optional<Device>) { return self.pin_memory(); }
Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return self.view(size); }
Tensor _reshape_copy(const Tensor& self, IntArrayRef size) { return self.reshape(size).clone(); }
Tensor _shape_as_tensor(const Tensor& self) { return tensor(self.sizes(), kLong); }
Tensor _dim_arange(const Tensor& like, int64_t dim) {
  return arange(like.size(dim), TensorOptions(kLong).device(like.device()));
}
Tensor _stack(TensorList tensors, int64_t dim) { return stack(tensors, dim); }
// hb::pad asks for channels before the dimensions that it pads.
Tensor _pad_circular(const Tensor& self, IntArrayRef pad) {
  const IntArrayRef pairs = pad.slice(0, pad.size() / 2 * 2);
  if (pairs.empty()) return self.clone();
  const bool all = 2 * self.dim() == static_cast<int64_t>(pairs.size());
  const Tensor padded = hb::pad(all ? self.unsqueeze(0) : self, pairs, "circular");
  return all ? padded.squeeze(0) : padded;
}
Tensor _chunk_cat(TensorList tensors, int64_t dim, int64_t num_chunks) {
  HB_CHECK(num_chunks >= 1, "_chunk_cat expects positive num_chunks");
  HB_CHECK(!tensors.empty(), "_chunk_cat expects a non-empty input tensor list");
  HB_CHECK(dim >= 0 && dim < tensors[0].dim(), "[_chunk_cat] expected dim from 0 to ", tensors[0].dim() - 1, ", got ",
           dim);
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    HB_CHECK(t.numel() > 0, "_chunk_cat expects non-empty tensor");
    HB_CHECK(t.scalar_type() == tensors[0].scalar_type(), "_chunk_cat expects all input tensors with same dtype");
    HB_CHECK(t.dim() > dim && t.sizes().slice(0, dim) == tensors[0].sizes().slice(0, dim),
             "_chunk_cat expects same sizes of 0,...,dim-1 dimensions");
    std::vector<int64_t> padding(2 * static_cast<size_t>(t.dim() - dim), 0), shape = t.sizes().slice(0, dim).vec();
    padding.back() = (num_chunks - t.size(dim) % num_chunks) % num_chunks;
    shape.insert(shape.end(), {num_chunks, -1});
    parts.push_back(constant_pad_nd(t, padding).reshape(shape));
  }
  return cat(parts, dim + 1);
}
Tensor _pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode, std::optional<double> value) {
  static constexpr const char* modes[] = {"reflect", "replicate", "circular", "constant"};
  HB_CHECK(mode >= 0 && mode < 4, "[_pad_enum] expected a mode from 0 to 3, got ", mode);
  return hb::pad(self, pad, modes[mode], value);
}
Scalar _local_scalar_dense(const Tensor& self) { return self.item(); }
bool _has_same_storage_numel(const Tensor& self, const Tensor& other) {
  return self.storage().nbytes() / self.itemsize() == other.storage().nbytes() / other.itemsize();
}
bool _has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  return self.device().type() == from.device().type() && self.layout() == from.layout();
}
int64_t _debug_has_internal_overlap(const Tensor& self) {
  if (self.is_non_overlapping_and_dense()) return 0;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (self.size(d) > 1 && self.stride(d) == 0) return 1;
  return 2;
}

void _assert_async(const Tensor& self) {
  HB_CHECK(self.is_nonzero(), "Expected Tensor with single nonzero value, but got zero");
}
void _assert_async(const Tensor& self, std::string_view assert_msg) {
  HB_CHECK(self.is_nonzero(), assert_msg.empty() ? std::string_view("Assertion is failed") : assert_msg);
}
void _assert_scalar(const Scalar& self, std::string_view assert_msg) {
  HB_CHECK(self.toBool(), assert_msg.empty() ? std::string_view("Assertion is failed") : assert_msg);
}
void _assert_tensor_metadata(const Tensor& a, OptionalIntArrayRef size, OptionalIntArrayRef stride,
                             std::optional<ScalarType> dtype, std::optional<Device> device,
                             std::optional<Layout> layout) {
  HB_CHECK(!size || a.sizes() == *size, "Tensor sizes mismatch! Expected: ", *size, ", Got: ", a.sizes());
  HB_CHECK(!stride || a.strides() == *stride, "Tensor strides mismatch! Expected: ", *stride, ", Got: ", a.strides());
  HB_CHECK(!dtype || a.scalar_type() == *dtype, "Tensor dtype mismatch! Expected: ", *dtype,
           ", Got: ", a.scalar_type());
  HB_CHECK(!device || a.device() == *device, "Tensor device mismatch! Expected: ", *device, ", Got: ", a.device());
  HB_CHECK(!layout || a.layout() == *layout, "Tensor layout mismatch! Expected: ", *layout, ", Got: ", a.layout());
}

Tensor& _index_put_impl_(Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values,
                         bool accumulate, bool) {
  return self.index_put_(indices, values, accumulate);
}
Tensor _unsafe_index(const Tensor& self, const List<std::optional<Tensor>>& indices) { return self.index(indices); }
Tensor _unsafe_index_put(const Tensor& self, const List<std::optional<Tensor>>& indices, const Tensor& values,
                         bool accumulate) {
  return self.index_put(indices, values, accumulate);
}

Tensor _unsafe_masked_index(const Tensor& self, const Tensor& mask, const List<std::optional<Tensor>>& indices,
                            const Scalar& fill) {
  HB_CHECK(mask.scalar_type() == kBool, "[_unsafe_masked_index] expected a mask of bools, got ", mask.scalar_type());
  std::vector<std::optional<Tensor>> places;
  for (int64_t d = 0; d < static_cast<int64_t>(indices.size()); ++d) {
    const std::optional<Tensor> index = indices[d];
    const bool given = index && index->defined();
    places.push_back(given ? std::optional<Tensor>(index->clamp(-self.size(d), self.size(d) - 1)) : std::nullopt);
  }
  return self.index(places).masked_fill(mask.logical_not(), fill);
}
Tensor _coalesce(const Tensor& self) { return self.coalesce(); }

}  // namespace api
}  // namespace hb::bridge
