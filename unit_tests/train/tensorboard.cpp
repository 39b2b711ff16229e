// Event files: framing and checksums of every record, and the fields, read by a reader of the test's own.
#include <gtest/gtest.h>
#include <halfbridge/halfbridge.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

// CRC-32C bit by bit, from its definition.
uint32_t crc32c(const std::string& data) {
  uint32_t crc = 0xffffffffu;
  for (unsigned char byte : data) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  return crc ^ 0xffffffffu;
}
uint32_t masked(const std::string& data) {
  const uint32_t crc = crc32c(data);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
template <class T>
T number(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);  // x86: little-endian
  return value;
}

// With `tail`, a last record that is cut off is its size, and no error.
std::vector<std::string> records(const std::string& path, size_t* tail = nullptr) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> found;
  size_t at = 0;
  while (at < all.size()) {
    if (tail) *tail = all.size() - at;
    if (tail && (at + 12 > all.size() || at + 16 + number<uint64_t>(all, at) > all.size())) return found;
    if (at + 12 > all.size()) throw std::runtime_error("cut off");
    const std::string length = all.substr(at, 8);
    const auto n = number<uint64_t>(all, at);
    EXPECT_EQ(number<uint32_t>(all, at + 8), masked(length));
    if (at + 16 + n > all.size()) throw std::runtime_error("cut off");
    const std::string data = all.substr(at + 12, n);
    EXPECT_EQ(number<uint32_t>(all, at + 12 + n), masked(data));
    found.push_back(data);
    at += 16 + n;
  }
  if (tail) *tail = 0;
  return found;
}

// Fields of a protocol buffer: number -> bytes of the value.
std::map<int, std::string> fields(const std::string& message) {
  std::map<int, std::string> result;
  size_t at = 0;
  auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(message.at(at++));
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
  };
  while (at < message.size()) {
    const uint64_t key = varint();
    std::string& value = result[static_cast<int>(key >> 3)];
    size_t size = 0;
    switch (key & 7) {
      case 0: {
        const uint64_t v = varint();
        value.assign(reinterpret_cast<const char*>(&v), 8);
        continue;
      }
      case 1:
        size = 8;
        break;
      case 2:
        size = varint();
        break;
      case 5:
        size = 4;
        break;
      default:
        throw std::runtime_error("wire type");
    }
    value = message.substr(at, size);
    at += size;
  }
  return result;
}

std::string folder(const char* name) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  return path.string();
}

}  // namespace

TEST(TrainTensorBoard, ChecksumIsCrc32c) {
  // The check value of the algorithm's catalogue entry.
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

TEST(TrainTensorBoard, FramesAndFields) {
  std::string path;
  {
    hb::train::SummaryWriter writer(folder("hb_events") + "/deep/down");
    path = writer.path();
    writer.add_scalar("train/loss", 0.25, 1);
    writer.add_scalar("gross", -1e30, 1234567890123);
    writer.flush();
    EXPECT_EQ(records(path).size(), 3u);  // complete while the writer lives
    for (int i = 0; i < 300; ++i) writer.add_scalar(std::string(static_cast<size_t>(i), 'x'), i, i);
  }
  EXPECT_EQ(std::filesystem::path(path).filename().string().rfind("events.out.tfevents.", 0), 0u);
  const auto all = records(path);
  ASSERT_EQ(all.size(), 303u);
  EXPECT_EQ(fields(all[0]).at(3), "brain.Event:2");
  EXPECT_GT(number<double>(fields(all[0]).at(1), 0), 1.6e9);
  auto event = fields(all[2]);
  EXPECT_EQ(number<int64_t>(event.at(2), 0), 1234567890123);
  auto value = fields(fields(event.at(5)).at(1));
  EXPECT_EQ(value.at(1), "gross");
  EXPECT_EQ(number<float>(value.at(2), 0), -1e30f);
  EXPECT_EQ(fields(fields(fields(all[302]).at(5)).at(1)).at(1).size(), 299u);
}

TEST(TrainTensorBoard, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_THROW(hb::train::SummaryWriter("/proc/nowhere/logs"), hb::Error);
}

// What was flushed before the kill is there, in order; after it whole records and at most one that is cut off.
TEST(TrainTensorBoard, OfAKilledProgramWhatWasFlushedIsWhole) {
  void* memory = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& flushed = *new (memory) std::atomic<int>(0);
  int most = 0;
  for (useconds_t round = 0; round < 20 || (round < 200 && most == 0); ++round) {
    flushed = 0;
    const std::string logs = folder("hb_killed_events");
    const pid_t child = ::fork();
    if (child == 0) {
      hb::train::SummaryWriter writer(logs);
      for (int i = 0;; ++i) {
        writer.add_scalar(std::string(static_cast<size_t>(i % 500), 'x'), i, i);
        if (i % 7 != 0) continue;
        writer.flush();
        flushed = i + 1;
      }
    }
    ::usleep(500 + 1000 * round);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(logs) || std::filesystem::is_empty(logs)) continue;
    size_t tail = 0;
    const auto all = records(std::filesystem::directory_iterator(logs)->path().string(), &tail);
    EXPECT_LT(tail, 600u);
    const int scalars = std::max(static_cast<int>(all.size()) - 1, 0);  // the first record is the version
    ASSERT_GE(scalars, flushed);
    for (int i = 0; i < scalars; ++i) {
      const auto event = fields(all[static_cast<size_t>(i) + 1]);
      EXPECT_EQ(number<int64_t>(event.at(2), 0), i);
      EXPECT_EQ(number<float>(fields(fields(event.at(5)).at(1)).at(2), 0), static_cast<float>(i));
    }
    most = std::max(most, scalars);
  }
  EXPECT_GT(most, 0);
  ::munmap(memory, sizeof(std::atomic<int>));
}
