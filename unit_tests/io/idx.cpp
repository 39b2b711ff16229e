// IDX files, plain and gzipped.
#include <gtest/gtest.h>
#include <halfbridge/error.h>
#include <halfbridge/io/idx.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using hb::io::IdxArray;
using hb::io::IdxType;
using hb::io::parse_idx;
using hb::io::read_idx;

const std::string kBytes("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\x06", 18);
// The same through gzip.
const std::string kGzipped(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x62\x60\x60"
    "\x00\x61\x66\x46\x26\x66\x16\x56\x36\x00\x48\x94\x3e\xe5\x12\x00\x00\x00",
    35);

IdxArray parse(const std::string& bytes) { return parse_idx(bytes.data(), bytes.size()); }

std::string error_of(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const hb::Error& error) {
    return error.what();
  }
  return "";
}

void expect_sample(const IdxArray& array) {
  EXPECT_EQ(array.type, IdxType::UInt8);
  EXPECT_EQ(array.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(array.bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(IoIdx, PlainAndGzipped) {
  expect_sample(parse(kBytes));
  expect_sample(parse(kGzipped));
}

TEST(IoIdx, WiderTypesComeInHostOrder) {
  const IdxArray array = parse(std::string("\0\0\x0c\x01\0\0\0\x02\0\0\x01\x02\xff\xff\xff\xfe", 16));
  ASSERT_EQ(array.bytes.size(), 8u);
  int32_t values[2];
  std::memcpy(values, array.bytes.data(), sizeof values);
  EXPECT_EQ(values[0], 258);
  EXPECT_EQ(values[1], -2);
}

TEST(IoIdx, FilesAndTheirGzippedNeighbours) {
  const fs::path folder = fs::temp_directory_path() / ("halfbridge-idx-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string path = (folder / "images").string();
  std::ofstream(path + ".gz", std::ios::binary) << kGzipped;
  expect_sample(read_idx(path));
  std::ofstream(path, std::ios::binary) << kBytes;
  expect_sample(read_idx(path));
  try {
    read_idx((folder / "nothing").string());
    ADD_FAILURE() << "a missing file was read";
  } catch (const hb::Error& error) {
    EXPECT_NE(std::string(error.what()).find("nothing"), std::string::npos);
  }
  EXPECT_THROW(read_idx(folder.string()), hb::Error);
  fs::remove_all(folder);
}

TEST(IoIdx, TruncatedAnywhere) {
  for (size_t size = 0; size < kBytes.size(); ++size) {
    EXPECT_NE(error_of(kBytes.substr(0, size)).find("truncated"), std::string::npos) << size;
  }
  for (size_t size = 0; size < kGzipped.size(); ++size) EXPECT_NE(error_of(kGzipped.substr(0, size)), "") << size;
}

TEST(IoIdx, DamagedAnywhere) {
  size_t errors = 0;
  for (size_t at = 0; at < kGzipped.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = kGzipped;
      damaged[at] = static_cast<char>(value);
      if (!error_of(damaged).empty()) ++errors;
    }
  }
  EXPECT_GT(errors, kGzipped.size());
}

TEST(IoIdx, HeadersThatLie) {
  EXPECT_NE(error_of(kBytes + "x").find("after"), std::string::npos);
  EXPECT_NE(error_of(std::string("\1\0\x08\x01\0\0\0\0", 8)).find("magic"), std::string::npos);
  EXPECT_NE(error_of(std::string("\0\0\x08\0", 4)).find("magic"), std::string::npos);
  EXPECT_NE(error_of(std::string("\0\0\x07\x01\0\0\0\0", 8)).find("type code"), std::string::npos);
  // Sixteen exabytes are claimed, then a gigabyte: neither is taken from memory for eight bytes of file.
  EXPECT_NE(error_of(std::string("\0\0\x08\x02", 4) + std::string(8, '\xff')).find("claims"), std::string::npos);
  EXPECT_NE(error_of(std::string("\0\0\x08\x01\x40\0\0\0", 8)).find("truncated"), std::string::npos);
}

}  // namespace
