#include <halfbridge/device.h>

#include <cctype>
#include <iterator>
#include <optional>
#include <ostream>
#include <string_view>

#include <halfbridge/error.h>

namespace hb {

namespace {
// In the order of the enumeration.
constexpr const char* kNames[] = {"CPU",  "CUDA", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "HIP",
                                  "FPGA", "MAIA", "XLA",    "VULKAN", "METAL",  "XPU",   "MPS",
                                  "META", "HPU",  "VE",     "LAZY",   "IPU",    "MTIA",  "PRIVATEUSEONE"};
static_assert(std::size(kNames) == COMPILE_TIME_MAX_DEVICE_TYPES);

std::optional<DeviceType> type_of_name(std::string_view name) {
  for (int i = 0; i < COMPILE_TIME_MAX_DEVICE_TYPES; ++i)
    if (const auto type = static_cast<DeviceType>(i); DeviceTypeName(type, true) == name) return type;
  return std::nullopt;
}
}  // namespace

bool isValidDeviceType(DeviceType type) {
  return type >= kCPU && static_cast<int>(type) < COMPILE_TIME_MAX_DEVICE_TYPES;
}

std::string DeviceTypeName(DeviceType type, bool lower_case) {
  HB_CHECK(isValidDeviceType(type), "[DeviceTypeName] Unknown device: ", static_cast<int>(type));
  std::string name = kNames[static_cast<int>(type)];
  if (lower_case)
    for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << DeviceTypeName(type, true); }

Device::Device(const std::string& text) : type_(kCPU), index_(-1) {
  HB_CHECK(!text.empty(), "[Device] Device string must not be empty");
  const size_t colon = text.find(':');
  HB_CHECK(colon != 0, "[Device] Invalid device string: '", text, "'");
  const std::string kind = text.substr(0, colon);
  const std::optional<DeviceType> found = type_of_name(kind);
  HB_CHECK(found,
           "[Device] Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, ",
           "lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: ", kind);
  type_ = *found;
  if (type_ == DeviceType::MKLDNN)
    detail::warn("'mkldnn' is no longer used as device type: torch.device('mkldnn') is deprecated.");
  if (colon == std::string::npos) return;
  const std::string number = text.substr(colon + 1);
  bool digits = !number.empty() && number.size() <= 3 && (number.size() == 1 || number[0] != '0');
  for (char c : number) digits = digits && std::isdigit(static_cast<unsigned char>(c));
  HB_CHECK(digits && std::stoi(number) < 128, "[Device] Invalid device string: '", text, "'");
  index_ = static_cast<DeviceIndex>(std::stoi(number));
}

void Device::check_index() const {
  HB_CHECK(index_ >= -1, "[Device] Device index must be -1 or non-negative, got ", int{index_});
  HB_CHECK(!is_cpu() || index_ <= 0, "[Device] CPU device index must be -1 or zero, got ", int{index_});
}

std::string Device::str() const {
  std::string s = DeviceTypeName(type_, true);
  return has_index() ? s + ":" + std::to_string(index_) : s;
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

std::ostream& operator<<(std::ostream& out, Layout layout) {
  constexpr const char* kNames[] = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                    "SparseCsc", "SparseBsr", "SparseBsc", "Jagged"};
  return out << kNames[static_cast<int>(layout)];
}
std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::Contiguous:
      return out << "Contiguous";
    case MemoryFormat::Preserve:
      return out << "Preserve";
    case MemoryFormat::ChannelsLast:
      return out << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d:
      return out << "ChannelsLast3d";
  }
  return out;
}

}  // namespace hb
