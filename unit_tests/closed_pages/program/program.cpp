// Decompositions where a page that nobody can touch begins behind every array: what a library reads beyond an end,
// which elsewhere goes unseen until an array ends with the process's memory, ends this program.
#include <sys/mman.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <utility>
#include <vector>

namespace {

constexpr size_t kPage = 4096, kAligned = 16;
std::atomic<int64_t> arrays = 0;

char* first_page(void* memory) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(memory) / kPage * kPage) - kPage;
}

}  // namespace

void* operator new[](size_t bytes) {
  // A page with the size, the array's own, at whose end it ends, and the closed one.
  bytes = std::max<size_t>(bytes, 1);
  const size_t own = (bytes + kPage - 1) / kPage * kPage, all = own + 2 * kPage;
  void* const pages = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  char* const start = static_cast<char*>(pages);
  if (mprotect(start + all - kPage, kPage, PROT_NONE) != 0) throw std::bad_alloc();
  char* const memory = start + kPage + (own - bytes) / kAligned * kAligned;
  *reinterpret_cast<size_t*>(first_page(memory)) = all;
  ++arrays;
  return memory;
}
void operator delete[](void* memory) noexcept {
  if (memory) munmap(first_page(memory), *reinterpret_cast<size_t*>(first_page(memory)));
}
void operator delete[](void* memory, size_t) noexcept { operator delete[](memory); }

namespace {

using torch::Tensor;

void decompose(int64_t m, int64_t n, torch::Dtype dtype) {
  const Tensor a = torch::randn({2, m, n}, dtype), b = torch::randn({2, m, 3}, dtype);
  for (const bool full : {false, true}) torch::linalg_svd(a, full);
  torch::linalg_svdvals(a);
  for (const char* mode : {"reduced", "complete"}) torch::linalg_qr(a, mode);
  const auto [reflections, tau] = torch::geqrf(a);
  if (m >= n) torch::linalg_householder_product(reflections, tau);
  for (const bool adjoint : {false, true}) torch::ormqr(reflections, tau, b, true, adjoint);
  torch::linalg_lu_factor(a);
  for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"}) torch::linalg_lstsq(a, b, {}, driver);
}

void decompose(int64_t n, torch::Dtype dtype) {
  const Tensor a = torch::randn({2, n, n}, dtype), b = torch::randn({2, n, 3}, dtype), h = a + a.mH();
  const Tensor definite = a.matmul(a.mH()) + torch::eye(n, dtype) * static_cast<double>(n);
  for (const char* triangle : {"L", "U"}) torch::linalg_eigh(h, triangle), torch::linalg_eigvalsh(h, triangle);
  torch::linalg_eig(a), torch::linalg_eigvals(a);
  const auto [lu, pivots] = torch::linalg_lu_factor(definite);
  torch::linalg_inv(definite);
  for (const bool upper : {false, true}) {
    const Tensor factor = torch::linalg_cholesky(definite, upper);
    torch::cholesky_inverse(factor, upper);
    for (const Tensor& right : {b, b.narrow(-1, 0, 1)}) {
      torch::cholesky_solve(right, factor, upper);
      torch::linalg_lu_solve(lu, pivots, right, true, upper);
      torch::linalg_solve_triangular(definite, right, upper, true);
      torch::linalg_solve_triangular(definite, right.mT(), upper, false);
    }
  }
}

}  // namespace

int main() {
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kComplexFloat, torch::kComplexDouble}) {
    for (const int64_t n : {1, 2, 3, 5, 17, 31, 32, 33, 45, 70, 98, 130}) decompose(n, dtype);
    for (const auto& [m, n] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 5}, {5, 1}, {7, 6}, {33, 45}, {130, 3}, {3, 70}, {101, 99}})
      decompose(m, n, dtype);
  }
  if (arrays < 1000) return std::printf("expected the library's arrays, got %ld\n", static_cast<long>(arrays)), 1;
}
