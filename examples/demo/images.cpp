#include "images.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace demo {
namespace {

// zlib reads files that are not compressed as they are.
std::string read_all(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throw std::runtime_error("could not open " + path);
  std::string text;
  std::vector<char> part(1 << 16);
  int n;
  while ((n = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0) {
    text.append(part.data(), static_cast<size_t>(n));
  }
  const int closed = gzclose(file);
  if (n < 0 || closed != Z_OK) throw std::runtime_error("could not read " + path + ": truncated or not gzip data");
  return text;
}

std::string find_file(const std::string& dir, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    const std::string path = dir + "/" + name + ending;
    if (std::ifstream(path).good()) return path;
  }
  return {};
}

// An IDX file of bytes: a magic number that tells the number of dimensions, the sizes, the values.
torch::Tensor read_idx(const std::string& path, size_t dims) {
  const std::string bytes = read_all(path);
  auto word = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  const size_t header = 4 + 4 * dims;
  if (bytes.size() < header || word(0) != 0x800 + dims) {
    throw std::runtime_error(path + ": expected an IDX file of bytes with " + std::to_string(dims) + " dimensions");
  }
  std::vector<int64_t> sizes;
  size_t count = 1;
  for (size_t d = 0; d < dims; ++d) {
    sizes.push_back(word(4 + 4 * d));
    count *= word(4 + 4 * d);
  }
  if (bytes.size() != header + count) {
    throw std::runtime_error(path + ": expected " + std::to_string(header + count) + " bytes, got " +
                             std::to_string(bytes.size()));
  }
  return torch::from_blob(const_cast<char*>(bytes.data() + header), sizes, torch::kUInt8).clone();
}

LabelledImages read_mnist_part(const std::string& images, const std::string& labels) {
  LabelledImages part;
  part.images = read_idx(images, 3).to(torch::kFloat).div_(255).unsqueeze(1);
  part.labels = read_idx(labels, 1).to(torch::kLong);
  if (part.images.size(0) != part.labels.size(0)) {
    throw std::runtime_error(images + " and " + labels + " hold different numbers of examples");
  }
  return part;
}

// 64 grey levels and a class, or false.
bool read_row(std::string_view line, std::vector<float>& pixels, std::vector<int64_t>& labels) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  for (int cell = 0; cell <= 64; ++cell) {
    const char* const end = line.data() + std::min(line.find(','), line.size());
    float value = 0;
    const auto [stop, error] = std::from_chars(line.data(), end, value);
    const bool is_label = cell == 64;
    if (error != std::errc() || stop != end || !(value >= 0 && value <= (is_label ? 9 : 16))) return false;
    if (is_label && (stop != line.data() + line.size() || value != std::floor(value))) return false;
    if (is_label)
      labels.push_back(static_cast<int64_t>(value));
    else
      pixels.push_back(value / 16.0f);
    line.remove_prefix(std::min(static_cast<size_t>(stop - line.data()) + 1, line.size()));
  }
  return true;
}

}  // namespace

LabelledImages read_digits(const std::string& path) {
  std::istringstream lines(read_all(path));
  std::vector<float> pixels;
  std::vector<int64_t> labels;
  for (std::string line; std::getline(lines, line);) {
    if (!read_row(line, pixels, labels)) {
      throw std::runtime_error(path + ": line " + std::to_string(labels.size() + 1) +
                               " is not 64 grey levels and a digit");
    }
  }
  const auto n = static_cast<int64_t>(labels.size());
  if (n == 0) throw std::runtime_error(path + ": empty");
  return {torch::from_blob(pixels.data(), {n, 1, 8, 8}).clone(), torch::tensor(labels)};
}

bool has_mnist(const std::string& dir) {
  return !find_file(dir, "train-images-idx3-ubyte").empty() || !find_file(dir, "t10k-images-idx3-ubyte").empty();
}

std::pair<LabelledImages, LabelledImages> read_mnist(const std::string& dir) {
  auto read = [&](const std::string& part) {
    const auto images = find_file(dir, part + "-images-idx3-ubyte"),
               labels = find_file(dir, part + "-labels-idx1-ubyte");
    if (images.empty() || labels.empty()) throw std::runtime_error(dir + ": " + part + " images or labels are missing");
    return read_mnist_part(images, labels);
  };
  if (find_file(dir, "train-images-idx3-ubyte").empty()) return hold_back(read("t10k"), 6);
  return {read("train"), read("t10k")};
}

std::pair<LabelledImages, LabelledImages> hold_back(const LabelledImages& all, int64_t one_in) {
  const auto held = torch::arange(all.size()).remainder(one_in) == one_in - 1;
  const auto kept = held.logical_not();
  return {{all.images.index({kept}), all.labels.index({kept})}, {all.images.index({held}), all.labels.index({held})}};
}

}  // namespace demo
