// The demo's data: rows of grey levels and a class (CSV), plain or gzipped.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include "demo/images.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file;
  file.write(data, size);
  try {
    const demo::LabelledImages all = demo::read_digits(file.path());
    const auto within = [](const torch::Tensor& t, double high) {
      return t.ge(0).all().item<bool>() && t.le(high).all().item<bool>();
    };
    if (!within(all.images, 1) || !within(all.labels, 9) || all.images.size(0) != all.size()) std::abort();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
