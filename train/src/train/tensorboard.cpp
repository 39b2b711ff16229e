// An event file is a row of records: length (uint64), masked CRC-32C of the length, data, masked CRC-32C of the data,
// all little-endian. The data is a protocol buffer `Event` of four fields; libprotobuf and TensorFlow's .proto files
// would be a heavy dependency for them.
#include <halfbridge/train/tensorboard.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <halfbridge/train/model.h>

namespace hb::train {

namespace {

// CRC-32C (Castagnoli), polynomial 0x1EDC6F41 reflected.
uint32_t crc32c(const std::string& data) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      t[i] = i;
      for (int bit = 0; bit < 8; ++bit) t[i] = t[i] & 1 ? t[i] >> 1 ^ 0x82f63b78u : t[i] >> 1;
    }
    return t;
  }();
  uint32_t crc = 0xffffffffu;
  for (unsigned char byte : data) crc = table[(crc ^ byte) & 0xff] ^ crc >> 8;
  return ~crc;
}
// TFRecord stores checksums so that data which holds checksums itself stays checkable.
uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

// Protocol buffer fields, by wire type.
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string key(int field, int wire_type) {
  return varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type));
}
std::string number(int field, int64_t value) { return key(field, 0) + varint(static_cast<uint64_t>(value)); }
std::string bytes(int field, const std::string& value) { return key(field, 2) + varint(value.size()) + value; }
std::string float64(int field, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return key(field, 1) + little_endian(bits);
}
std::string float32(int field, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return key(field, 5) + little_endian(bits);
}

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
std::string version_event() { return float64(1, now()) + bytes(3, "brain.Event:2"); }
// Summary { repeated Value { string tag = 1; float simple_value = 2; } value = 1; }
std::string scalar_event(const std::string& tag, double value, int64_t step) {
  return float64(1, now()) + number(2, step) +
         bytes(5, bytes(1, bytes(1, tag) + float32(2, static_cast<float>(value))));
}

// TensorBoard reads events.out.tfevents.SECONDS.HOST...; the rest keeps files of one second apart.
std::string file_name() {
  static std::atomic<int> count{0};
  char host[256] = "localhost";
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  return "events.out.tfevents." + std::to_string(static_cast<int64_t>(now())) + "." + host + "." +
         std::to_string(getpid()) + "." + std::to_string(count++);
}

}  // namespace

struct SummaryWriter::File {
  std::string path;
  std::ofstream stream;

  void check() const { HB_CHECK(stream.good(), "[SummaryWriter] cannot write ", path); }
  void write(const std::string& data) {
    const std::string length = little_endian(static_cast<uint64_t>(data.size()));
    stream << length << little_endian(masked(crc32c(length))) << data << little_endian(masked(crc32c(data)));
    check();
  }
};

SummaryWriter::SummaryWriter(const std::string& log_dir) : file_(std::make_unique<File>()) {
  std::error_code error;
  std::filesystem::create_directories(log_dir, error);
  HB_CHECK(!error, "[SummaryWriter] cannot make the folder ", log_dir, ": ", error.message());
  file_->path = (std::filesystem::path(log_dir) / file_name()).string();
  file_->stream.open(file_->path, std::ios::binary);
  file_->check();
  file_->write(version_event());
  flush();
}
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;
SummaryWriter::~SummaryWriter() = default;

void SummaryWriter::add_scalar(const std::string& tag, double value, int64_t global_step) {
  file_->write(scalar_event(tag, value, global_step));
}
void SummaryWriter::flush() {
  file_->stream.flush();
  file_->check();
}
const std::string& SummaryWriter::path() const { return file_->path; }

TensorBoard::TensorBoard(std::string log_dir, int64_t every) : log_dir_(std::move(log_dir)), every_(every) {
  HB_CHECK(every >= 1, "[TensorBoard] expected to write every 1 step or more, got ", every);
}
void TensorBoard::on_train_begin(RunContext&) {
  if (!writer_) writer_ = std::make_shared<SummaryWriter>(log_dir_);
}
void TensorBoard::on_train_step_end(RunContext& run) {
  if (run.global_step % every_ != 0) return;
  writer_->add_scalar("loss", run.loss.item<double>(), run.global_step);
  const auto& groups = run.model.optimizer().param_groups();
  if (!groups.empty()) writer_->add_scalar("learning_rate", groups[0].options().get_lr(), run.global_step);
  if (run.overflow.defined()) writer_->add_scalar("loss_scale", run.model.loss_scale(), run.global_step);
}
void TensorBoard::on_train_epoch_end(RunContext& run) {
  for (const auto& [name, value] : run.results) writer_->add_scalar("epoch/" + name, value, run.epoch);
  writer_->flush();
}
void TensorBoard::on_train_end(RunContext&) { writer_->flush(); }

}  // namespace hb::train
