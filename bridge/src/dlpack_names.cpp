#include <halfbridge/bridge/dlpack_names.h>

#include <memory>
#include <utility>

#include <halfbridge/error.h>

namespace hb::bridge {
inline namespace api {

namespace {
constexpr ScalarType kDtypes[] = {kByte, kChar,     kShort,        kInt,           kLong,   kHalf,   kFloat, kDouble,
                                  kBool, kBFloat16, kComplexFloat, kComplexDouble, kUInt16, kUInt32, kUInt64};

/// What the program gave with a managed tensor, and the tensor that calls it.
struct Borrowed {
  DLManagedTensor managed{};
  DLManagedTensor* source;
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
  auto* borrowed = new Borrowed{{}, src, std::move(deleter)};
  borrowed->managed.dl_tensor = src->dl_tensor;
  borrowed->managed.manager_ctx = borrowed;
  borrowed->managed.deleter = [](DLManagedTensor* managed) {
    const std::unique_ptr<Borrowed> done(static_cast<Borrowed*>(managed->manager_ctx));
    done->deleter(done->source);
  };
  return from_dlpack(&borrowed->managed);
}

DLDataType getDLDataType(const Tensor& tensor) { return dl_dtype(tensor.scalar_type()); }

ScalarType toScalarType(const DLDataType& dtype) {
  for (const ScalarType candidate : kDtypes)
    if (const DLDataType own = dl_dtype(candidate);
        own.code == dtype.code && own.bits == dtype.bits && dtype.lanes == 1)
      return candidate;
  throw Error(hb::detail::str("[toScalarType] expected a dtype that a Tensor has, got DLPack's code ", int{dtype.code},
                              " with ", int{dtype.bits}, " bits and ", dtype.lanes, " lanes"));
}

}  // namespace api
}  // namespace hb::bridge
