#include "op.h"

#include <ATen/DLConvertor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_native.h>
#include <ATen/Parallel.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/Synchronized.h>
#include <torch/extension.h>

#include <queue>

using namespace at;
using namespace std;

// The standard library's names beside those of `at`.
int drain(queue<int> first, queue<int> second) {
  swap(first, second);
  return stoi(to_string(first.size()));
}

c10::Synchronized<int> counter;

#define TYPE_OF(name) at::k##name

void fill(Tensor& out, const c10::Device&) {
  parallel_for(0, out.numel(), internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out.data_ptr<float>()[i] = at::native::secret(i);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fill", torch::wrap_pybind_function(&fill)); }
