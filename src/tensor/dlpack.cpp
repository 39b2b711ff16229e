#include <halfbridge/dlpack.h>

#include <algorithm>
#include <memory>

#include <halfbridge/more_errors.h>

#include "core/device_backend.h"

// The C structures of DLPack 0.x and 1.x (struct DLManagedTensor, the unversioned form), by their published layout.
extern "C" {
struct HbDlDevice {
  int32_t type;
  int32_t id;
};
struct HbDlDtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct HbDlTensor {
  void* data;
  HbDlDevice device;
  int32_t ndim;
  HbDlDtype dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: contiguous
  uint64_t byte_offset;
};
struct DLManagedTensor {
  HbDlTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
}

namespace hb {
namespace {

// DLPack's numbers of devices; pinned memory (3) is memory of the CPU.
struct DeviceRow {
  DeviceType type;
  int32_t code;
};
constexpr DeviceRow kDevices[] = {{DeviceType::CPU, 1},
                                  {DeviceType::CUDA, 2},
                                  {DeviceType::CPU, 3},
                                  {DeviceType::HIP, 10},
                                  {DeviceType::PrivateUse1, 12}};

HbDlDevice device_to(const Device& device) {
  const auto* row = std::find_if(std::begin(kDevices), std::end(kDevices),
                                 [&](const DeviceRow& r) { return r.type == device.type(); });
  HB_CHECK(row != std::end(kDevices), "[to_dlpack] expected a device that DLPack has a number for, got ", device);
  return {row->code, device.is_cpu() ? 0 : device.index()};
}

Device device_from(const HbDlDevice& device) {
  const auto* row =
      std::find_if(std::begin(kDevices), std::end(kDevices), [&](const DeviceRow& r) { return r.code == device.type; });
  if (row == std::end(kDevices))
    throw BufferError(detail::str("[from_dlpack] expected memory of a known device, got DLPack's device type ",
                                  device.type, ": copy the tensor to the CPU first"));
  if (row->type == kCPU) return kCPU;
  return indexed_device("from_dlpack", {row->type, static_cast<DeviceIndex>(device.id)});
}

constexpr int32_t kMaxDims = 64;
enum Code : uint8_t { kSigned = 0, kUnsigned = 1, kReal = 2, kBrainFloat = 4, kComplex = 5, kBoolean = 6 };

struct Row {
  ScalarType dtype;
  Code code;
};
constexpr Row kRows[] = {{kByte, kUnsigned},       {kChar, kSigned},          {kShort, kSigned},
                         {kInt, kSigned},          {kLong, kSigned},          {kHalf, kReal},
                         {kBFloat16, kBrainFloat}, {kFloat, kReal},           {kDouble, kReal},
                         {kBool, kBoolean},        {kComplexFloat, kComplex}, {kComplexDouble, kComplex},
                         {kUInt16, kUnsigned},     {kUInt32, kUnsigned},      {kUInt64, kUnsigned}};

// What a tensor that we handed out keeps until the consumer is done.
struct Lent {
  DLManagedTensor managed{};
  Tensor tensor;
  DimVector sizes, strides;
};

ScalarType dtype_from(const HbDlDtype& dtype) {
  for (const Row& row : kRows) {
    if (dtype.lanes == 1 && dtype.code == row.code && dtype.bits == 8 * element_size(row.dtype)) return row.dtype;
  }
  throw BufferError(detail::str("[from_dlpack] expected a dtype that a Tensor has, got DLPack's code ", int{dtype.code},
                                " with ", int{dtype.bits}, " bits and ", dtype.lanes, " lanes"));
}

struct Geometry {
  DimVector sizes, strides;
  size_t elements;  // from the first to behind the last
};

Geometry geometry_of(const HbDlTensor& tensor) {
  HB_CHECK(tensor.ndim >= 0 && tensor.ndim <= kMaxDims && (tensor.ndim == 0 || tensor.shape),
           "[from_dlpack] expected a shape of 0 to ", kMaxDims, " dimensions, got ", tensor.ndim);
  const auto n = static_cast<size_t>(tensor.ndim);
  Geometry g{DimVector(n, 0), DimVector(n, 0), 0};
  int64_t step = 1, last = 0;
  bool overflow = false, empty = false;
  for (size_t i = n; i-- > 0;) {
    g.sizes[i] = tensor.shape[i];
    g.strides[i] = tensor.strides ? tensor.strides[i] : step;
    HB_CHECK(g.sizes[i] >= 0 && g.strides[i] >= 0, "[from_dlpack] expected sizes and strides of at least 0, got size ",
             g.sizes[i], " and stride ", g.strides[i]);
    int64_t reach = 0;
    empty |= g.sizes[i] == 0;
    overflow |= __builtin_mul_overflow(step, std::max<int64_t>(g.sizes[i], 1), &step);
    overflow |= __builtin_mul_overflow(std::max<int64_t>(g.sizes[i] - 1, 0), g.strides[i], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  HB_CHECK(empty || (!overflow && last < INT64_MAX / 8), "[from_dlpack] expected a tensor that fits into memory");
  g.elements = empty ? 0 : static_cast<size_t>(last) + 1;
  return g;
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  HB_CHECK(tensor.defined(), "[to_dlpack] expected a defined tensor, got an undefined one");
  auto lent = std::make_unique<Lent>();
  lent->tensor = tensor.detach();  // an alias: changes in place then keep to this memory
  lent->sizes = lent->tensor.impl().sizes();
  lent->strides = lent->tensor.impl().strides();
  HbDlTensor& out = lent->managed.tensor;
  out.data = lent->tensor.data_ptr();
  out.device = device_to(tensor.device());
  out.ndim = static_cast<int32_t>(tensor.dim());
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.dtype == tensor.scalar_type(); });
  HB_CHECK(row != std::end(kRows), "[to_dlpack] dtype ", tensor.scalar_type(), " is not supported");
  out.dtype = {row->code, static_cast<uint8_t>(8 * tensor.element_size()), 1};
  out.shape = lent->sizes.data();
  out.strides = lent->strides.data();
  lent->managed.context = lent.get();
  lent->managed.deleter = [](DLManagedTensor* managed) { delete static_cast<Lent*>(managed->context); };
  return &lent.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  HB_CHECK(managed, "[from_dlpack] expected a DLManagedTensor, got null");
  const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor* m) {
    if (m->deleter) m->deleter(m);
  });
  const HbDlTensor& in = managed->tensor;
  const Device device = device_from(in.device);
  const ScalarType dtype = dtype_from(in.dtype);
  Geometry g = geometry_of(in);
  HB_CHECK(in.data || g.elements == 0, "[from_dlpack] expected memory, got null");
  char* data = in.data ? static_cast<char*>(in.data) + in.byte_offset : nullptr;
  auto storage = StorageImpl::borrow(data, g.elements * element_size(dtype), device, [owner](void*) {});
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), dtype, std::move(g.sizes), std::move(g.strides), 0));
}

}  // namespace hb
