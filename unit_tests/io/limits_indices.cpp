// Time and memory of readers of sharded files and of zip64 archives grow with what is there, whatever is claimed.
#include <gtest/gtest.h>
#include <halfbridge/engine.h>
#include <halfbridge/io/checkpoint.h>
#include <halfbridge/io/safetensors.h>
#include <halfbridge/io/state_dict.h>

#include <filesystem>
#include <fstream>

#include "io/cost.h"
#include "io/zip_bytes.h"

namespace {

using unit::expect_bounded;
using unit::little;
namespace fs = std::filesystem;

class LimitsIndices : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("halfbridge_indices_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    hb::io::save_safetensors((folder_ / "one.safetensors").string(), {{"a", hb::ones({2})}});
  }
  void TearDown() override { fs::remove_all(folder_); }

  void expect_index_bounded(const char* name, const std::string& map) {
    const std::string path = (folder_ / "m.safetensors.index.json").string();
    std::ofstream(path) << R"({"metadata":{},"weight_map":)" << map << "}";
    expect_bounded(
        name, map.size(), [&] { hb::io::load_state_dict_file(path); }, true);
  }

  fs::path folder_;
};

TEST_F(LimitsIndices, Shards) {
  std::string one_file = "{", many_files = "{", same_names = "{", long_names = "{";
  for (int i = 0; i < 50'000; ++i) {
    const std::string comma = i ? "," : "", name = comma + "\"" + std::to_string(i) + "\":";
    one_file += name + "\"one.safetensors\"";
    many_files += name + "\"" + std::to_string(i) + ".safetensors\"";
    same_names += comma + "\"a\":\"one.safetensors\"";
  }
  for (int i = 0; i < 20; ++i)
    long_names +=
        std::string(i ? "," : "") + "\"" + std::string(100'000, 'a') + std::to_string(i) + "\":\"one.safetensors\"";
  expect_index_bounded("one file", one_file + "}");
  expect_index_bounded("many files", many_files + "}");
  expect_index_bounded("the same names", same_names + ",\"b\":\"one.safetensors\"}");
  expect_index_bounded("long names", long_names + "}");
  expect_index_bounded("depth", std::string(1'000'000, '['));
}

// A record and a directory that are there, and sizes of 64 bits that claim more.
std::string zip64(uint64_t size, uint64_t offset, uint64_t records, uint64_t directory_bytes) {
  const std::string name = "a/data.pkl", data = std::string("\x80\x02N.", 4);
  const std::string extra = little(1, 2) + little(24, 2) + little(size, 8) + little(size, 8) + little(offset, 8);
  const std::string head = little(45, 2) + little(0, 2) + little(0, 2) + little(0, 4) +
                           little(unit::crc32_of(data), 4) + little(UINT32_MAX, 4) + little(UINT32_MAX, 4) +
                           little(name.size(), 2);
  std::string file = little(0x04034b50, 4) + head + little(20, 2) + name + extra.substr(0, 20) + data;
  const uint64_t directory_at = file.size();
  file += little(0x02014b50, 4) + little(45, 2) + head + little(extra.size(), 2) + little(0, 2) + little(0, 2) +
          little(0, 2) + little(0, 4) + little(UINT32_MAX, 4) + name + extra;
  const uint64_t end_at = file.size(), there = end_at - directory_at;
  file += little(0x06064b50, 4) + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4) +
          little(records, 8) + little(records, 8) + little(directory_bytes ? directory_bytes : there, 8) +
          little(directory_at, 8);
  file += little(0x07064b50, 4) + little(0, 4) + little(end_at, 8) + little(1, 4);
  return file + little(0x06054b50, 4) + little(0, 4) + little(UINT16_MAX, 2) + little(UINT16_MAX, 2) +
         little(UINT32_MAX, 4) + little(UINT32_MAX, 4) + little(0, 2);
}

TEST_F(LimitsIndices, Zip64) {
  constexpr uint64_t kHuge = uint64_t{1} << 40;
  struct Claim {
    const char* name;
    uint64_t size, offset, records, directory_bytes;
  };
  for (const Claim& c :
       {Claim{"a record of 1 TB", kHuge, 0, 1, 0}, Claim{"the last size", UINT64_MAX, 0, 1, 0},
        Claim{"a record beyond", 4, kHuge, 1, 0}, Claim{"2^40 records", 4, 0, kHuge, 0},
        Claim{"a directory of 1 TB", 4, 0, 1, kHuge}, Claim{"2^64 - 1 records", 4, 0, UINT64_MAX, UINT64_MAX}}) {
    const std::string file = zip64(c.size, c.offset, c.records, c.directory_bytes);
    expect_bounded(
        c.name, file.size(), [&] { hb::io::pickle_load(std::vector<char>(file.begin(), file.end())); }, true);
  }
}

}  // namespace
