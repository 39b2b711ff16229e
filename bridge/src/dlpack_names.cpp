#include <halfbridge/bridge/dlpack_names.h>

#include <utility>

#include <halfbridge/more_errors.h>

namespace hb::bridge {
inline namespace api {

namespace {
constexpr ScalarType kDtypes[] = {kByte, kChar,     kShort,        kInt,           kLong,   kHalf,   kFloat, kDouble,
                                  kBool, kBFloat16, kComplexFloat, kComplexDouble, kUInt16, kUInt32, kUInt64};

/// A managed tensor for the engine, which frees the memory by a function of the program's.
struct Borrowed {
  Borrowed(const DLTensor& tensor, std::function<void(void*)> free)
      : managed{tensor, this, [](DLManagedTensor* self) { delete static_cast<Borrowed*>(self->manager_ctx); }},
        deleter(std::move(free)) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { deleter(managed.dl_tensor.data); }

  DLManagedTensor managed;
  std::function<void(void*)> deleter;
};

DLDataType dl_dtype(ScalarType dtype) {
  const auto code = dtype == kBool            ? kDLBool
                    : dtype == kBFloat16      ? kDLBfloat
                    : is_complex_type(dtype)  ? kDLComplex
                    : is_floating_type(dtype) ? kDLFloat
                    : is_signed_type(dtype)   ? kDLInt
                                              : kDLUInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * element_size(dtype)), 1};
}
}  // namespace

Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter) {
  if (!deleter) return from_dlpack(src);
  return from_dlpack(&(new Borrowed(src->dl_tensor, std::move(deleter)))->managed);
}

DLManagedTensorVersioned* toDLPackVersioned(const Tensor& src) {
  DLManagedTensor* plain = to_dlpack(src);
  const auto free = [](DLManagedTensorVersioned* self) {
    auto* held = static_cast<DLManagedTensor*>(self->manager_ctx);
    held->deleter(held);
    delete self;
  };
  return new DLManagedTensorVersioned{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, plain, free, 0, plain->dl_tensor};
}

Tensor fromDLPackVersioned(DLManagedTensorVersioned* src, std::function<void(void*)> deleter) {
  if (!deleter)
    deleter = [src](void*) {
      if (src->deleter) src->deleter(src);
    };
  if (src->version.major != DLPACK_MAJOR_VERSION) {
    const uint32_t major = src->version.major;
    deleter(src->dl_tensor.data);
    throw Error(
        hb::detail::str("[fromDLPackVersioned] expected DLPack's version ", DLPACK_MAJOR_VERSION, ", got ", major));
  }
  return from_dlpack(&(new Borrowed(src->dl_tensor, std::move(deleter)))->managed);
}

DLDataType getDLDataType(const Tensor& tensor) { return dl_dtype(tensor.scalar_type()); }

ScalarType toScalarType(const DLDataType& dtype) {
  for (const ScalarType candidate : kDtypes)
    if (const DLDataType own = dl_dtype(candidate);
        own.code == dtype.code && own.bits == dtype.bits && dtype.lanes == 1)
      return candidate;
  throw BufferError(hb::detail::str("[toScalarType] expected a dtype that a Tensor has, got DLPack's code ",
                                    int{dtype.code}, " with ", int{dtype.bits}, " bits and ", dtype.lanes, " lanes"));
}

}  // namespace api
}  // namespace hb::bridge
