#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include <halfbridge/macros.h>

namespace hb {

/// LibTorch's kinds of devices with its numbers. Tensors live on the CPU; making one elsewhere is an error that names
/// the device.
enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  MKLDNN = 2,
  OPENGL = 3,
  OPENCL = 4,
  IDEEP = 5,
  HIP = 6,
  FPGA = 7,
  MAIA = 8,
  XLA = 9,
  Vulkan = 10,
  Metal = 11,
  XPU = 12,
  MPS = 13,
  Meta = 14,
  HPU = 15,
  VE = 16,
  Lazy = 17,
  IPU = 18,
  MTIA = 19,
  PrivateUse1 = 20,
  COMPILE_TIME_MAX_DEVICE_TYPES = 21,
};
using DeviceIndex = int8_t;
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kFPGA = DeviceType::FPGA;
constexpr DeviceType kMAIA = DeviceType::MAIA;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kVulkan = DeviceType::Vulkan;
constexpr DeviceType kMetal = DeviceType::Metal;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;
constexpr DeviceType kHPU = DeviceType::HPU;
constexpr DeviceType kVE = DeviceType::VE;
constexpr DeviceType kLazy = DeviceType::Lazy;
constexpr DeviceType kIPU = DeviceType::IPU;
constexpr DeviceType kMTIA = DeviceType::MTIA;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);

HB_API bool isValidDeviceType(DeviceType type);
HB_API std::string DeviceTypeName(DeviceType type, bool lower_case = false);
HB_API std::ostream& operator<<(std::ostream& out, DeviceType type);

/// Where a tensor lives: a kind of device and, for more than one of a kind, its number (-1: the current one).
class HB_API Device {
 public:
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {  // NOLINT: implicit as in LibTorch
#ifndef NDEBUG  // where a program is compiled without it, as in LibTorch: this is on many hot paths
    check_index();
#endif
  }
  /// "cpu", "cuda", "cuda:1", the other kinds' names in lower case; throws on anything else.
  Device(const std::string& text);                         // NOLINT
  Device(const char* text) : Device(std::string(text)) {}  // NOLINT
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool has_index() const { return index_ != -1; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_hip() const { return type_ == kHIP; }
  bool is_fpga() const { return type_ == kFPGA; }
  bool is_maia() const { return type_ == kMAIA; }
  bool is_xla() const { return type_ == kXLA; }
  bool is_vulkan() const { return type_ == kVulkan; }
  bool is_metal() const { return type_ == kMetal; }
  bool is_xpu() const { return type_ == kXPU; }
  bool is_mps() const { return type_ == kMPS; }
  bool is_meta() const { return type_ == kMeta; }
  bool is_hpu() const { return type_ == kHPU; }
  bool is_ve() const { return type_ == kVE; }
  bool is_lazy() const { return type_ == kLazy; }
  bool is_ipu() const { return type_ == kIPU; }
  bool is_mtia() const { return type_ == kMTIA; }
  bool is_privateuseone() const { return type_ == kPrivateUse1; }
  bool supports_as_strided() const { return !is_ipu() && !is_xla() && !is_lazy(); }
  std::string str() const;
  bool operator==(const Device& o) const { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const { return !(*this == o); }

 private:
  void check_index() const;

  DeviceType type_;
  DeviceIndex index_;
};
HB_API std::ostream& operator<<(std::ostream& out, const Device& device);

/// Tensors are Strided, Sparse, SparseCsr or SparseCsc; programs compare the others.
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn, SparseCsc, SparseBsr, SparseBsc, Jagged };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
constexpr Layout kSparseCsr = Layout::SparseCsr, kSparseCsc = Layout::SparseCsc;
constexpr Layout kSparseBsr = Layout::SparseBsr, kSparseBsc = Layout::SparseBsc;
constexpr Layout kMkldnn = Layout::Mkldnn, kJagged = Layout::Jagged;
namespace detail {
/// Sparse by rows or columns, or by blocks of them.
constexpr bool is_compressed(Layout l) { return l == kSparseCsr || (l >= kSparseCsc && l <= kSparseBsc); }
}  // namespace detail
HB_API std::ostream& operator<<(std::ostream& out, Layout layout);

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
HB_API std::ostream& operator<<(std::ostream& out, MemoryFormat format);

}  // namespace hb

template <>
struct std::hash<hb::Device> {
  size_t operator()(const hb::Device& d) const noexcept {
    return (static_cast<size_t>(d.type()) << 8) | static_cast<uint8_t>(d.index());
  }
};
