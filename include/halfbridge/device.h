#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include <halfbridge/macros.h>

namespace hb {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, XLA = 9, Meta = 14, MPS = 13 };
using DeviceIndex = int8_t;
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kXLA = DeviceType::XLA;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;

HB_API std::string DeviceTypeName(DeviceType type, bool lower_case = false);
HB_API std::ostream& operator<<(std::ostream& out, DeviceType type);

/// Where a tensor lives: a kind of device and, for more than one of a kind, its number (-1: the current one).
class HB_API Device {
 public:
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}  // NOLINT: implicit as in LibTorch
  /// "cpu", "cuda", "cuda:1"; throws on anything else.
  Device(const std::string& text);                         // NOLINT
  Device(const char* text) : Device(std::string(text)) {}  // NOLINT
  DeviceType type() const { return type_; }
  DeviceIndex index() const { return index_; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool has_index() const { return index_ >= 0; }
  bool is_cpu() const { return type_ == kCPU; }
  bool is_cuda() const { return type_ == kCUDA; }
  bool is_mps() const { return type_ == kMPS; }
  bool is_meta() const { return type_ == kMeta; }
  std::string str() const;
  bool operator==(const Device& o) const { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const { return !(*this == o); }

 private:
  DeviceType type_;
  DeviceIndex index_;
};
HB_API std::ostream& operator<<(std::ostream& out, const Device& device);

enum class Layout : int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;
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
