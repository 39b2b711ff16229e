#include <halfbridge/device.h>

#include <cctype>
#include <ostream>

#include <halfbridge/error.h>

namespace hb {

std::string DeviceTypeName(DeviceType type, bool lower_case) {
  std::string name;
  switch (type) {
    case DeviceType::CPU:
      name = "CPU";
      break;
    case DeviceType::CUDA:
      name = "CUDA";
      break;
    case DeviceType::XLA:
      name = "XLA";
      break;
    case DeviceType::MPS:
      name = "MPS";
      break;
    case DeviceType::Meta:
      name = "META";
      break;
  }
  if (lower_case)
    for (char& c : name) c = static_cast<char>(std::tolower(c));
  return name;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << DeviceTypeName(type, true); }

Device::Device(const std::string& text) : type_(kCPU), index_(-1) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  bool known = false;
  for (DeviceType t : {kCPU, kCUDA, kXLA, kMPS, kMeta})
    if (DeviceTypeName(t, true) == kind) type_ = t, known = true;
  HB_CHECK(known, "[Device] expected one of cpu, cuda, xla, mps, meta device type at start of device string: ", text);
  if (colon == std::string::npos) return;
  const std::string number = text.substr(colon + 1);
  bool digits = !number.empty() && number.size() <= 3 && (number.size() == 1 || number[0] != '0');
  for (char c : number) digits = digits && std::isdigit(static_cast<unsigned char>(c));
  HB_CHECK(digits && std::stoi(number) < 128, "[Device] invalid device string: '", text, "'");
  index_ = static_cast<DeviceIndex>(std::stoi(number));
}

std::string Device::str() const {
  std::string s = DeviceTypeName(type_, true);
  return has_index() ? s + ":" + std::to_string(index_) : s;
}
std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << (layout == kStrided ? "Strided" : "Sparse");
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
