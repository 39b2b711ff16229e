// Reading the safetensors files that the two builds wrote, checked against lies in the header.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace parity_diff {

enum class Dtype { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

struct Array {
  Dtype dtype;
  std::vector<int64_t> shape;
  std::string bytes;

  int64_t size() const;
  bool is_float() const { return dtype <= Dtype::bf16; }
  double number(int64_t i) const;    // element i as a double
  int64_t integer(int64_t i) const;  // element i of an integer array
};

struct ParityFile {
  std::map<std::string, Array> arrays;
  std::map<std::string, std::string> metadata;  // text:, throws:, tol:, case:
};

const char* name_of(Dtype dtype);
int64_t bytes_of(Dtype dtype);
std::string shape_text(const std::vector<int64_t>& shape);

// Reads .safetensors, or .json of the form {"name": number | [numbers...]}. Throws std::runtime_error that
// names the file.
ParityFile read_parity_file(const std::string& path);

}  // namespace parity_diff
