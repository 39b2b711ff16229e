// LU and Cholesky factors of small matrices, and what is solved with them. A lane has rows of a matrix that is factored,
// or a right side.
#include "backend/decompositions.h"
#include "cuda/allow_shared.h"
#include "cuda/pivots.h"
#include "cuda/small_matrices.h"
#include "cuda/small_team.h"

namespace hb::cuda {
namespace {

/// The size that pivots are chosen by, as LAPACK's: no NaN is larger than the first candidate, which may be one.
template <class T>
__device__ auto pivot_size(const T& x, bool first) {
  using R = math::magnitude_t<T>;
  R size;
  if constexpr (is_complex_v<T>)
    size = std::abs(x.real()) + std::abs(x.imag());
  else
    size = std::abs(x);
  return size == size ? size : first ? R(INFINITY) : R(-1);
}

/// The row of the largest element, the first of those, in column j from the diagonal on.
template <class T>
__device__ int find_pivot(const SmallTeam& team, const T* s, int step, int rows, int j) {
  using R = math::magnitude_t<T>;
  int row = rows;
  R size(-2);
  for (int r = j + team.lane; r < rows; r += team.width)
    if (const R other = pivot_size(s[r * step + j], r == j); other > size) size = other, row = r;
  for (int lanes = team.width / 2; lanes; lanes /= 2) {
    const R other = __shfl_xor_sync(kFullWarp, size, lanes);
    const int where = __shfl_xor_sync(kFullWarp, row, lanes);
    if (other > size || (other == size && where < row)) size = other, row = where;
  }
  return row;
}

template <class T>
__global__ void __launch_bounds__(kSmallBlock)
    factor_lu(View<const T> a, View<T> to, int32_t* pivots, int32_t* info, int width) {
  HB_DYNAMIC_SHARED(T, rooms);
  const SmallTeam team(width, a.count);
  const int m = static_cast<int>(a.rows), n = static_cast<int>(a.columns), k = m < n ? m : n, step = row_step(n);
  T* const s = team.room(rooms, m * step);
  team.each(a, m, n, [&](int r, int c) { s[r * step + c] = a(team.number, r, c); });
  const int lane = team.lane;
  int32_t state = 0;
  for (int j = 0; j < k; ++j) {
    __syncwarp();
    const int p = find_pivot(team, s, step, m, j);
    if (lane == 0 && team.writes) pivots[team.number * k + j] = p + 1;
    for (int c = lane; c < n; c += width) {
      const T kept = s[j * step + c];
      s[j * step + c] = s[p * step + c], s[p * step + c] = kept;
    }
    __syncwarp();
    const T pivot = s[j * step + j];
    if (pivot == T(0) && state == 0) state = j + 1;
    for (int r = j + 1 + lane; r < m; r += width) {
      T* const row = s + r * step;
      if (pivot != T(0)) row[j] = row[j] / pivot;
      const T factor = row[j];
      for (int c = j + 1; c < n; ++c) row[c] -= factor * s[j * step + c];
    }
  }
  __syncwarp();
  if (!team.writes) return;
  team.each(to, m, n, [&](int r, int c) { to(team.number, r, c) = s[r * step + c]; });
  if (lane == 0) info[team.number] = state;
}

/// The lower triangle of `a` is read, conjugated where `a` is an upper one turned.
template <class T>
__global__ void __launch_bounds__(kSmallBlock)
    factor_cholesky(View<const T> a, View<T> to, bool conjugate, int32_t* info, int width) {
  HB_DYNAMIC_SHARED(T, rooms);
  const SmallTeam team(width, a.count);
  const int n = static_cast<int>(a.rows), step = row_step(n);
  T* const s = team.room(rooms, n * step);
  team.each(a, n, n, [&](int r, int c) {
    s[r * step + c] = c <= r ? conjugate_if(conjugate, a(team.number, r, c)) : T(0);
  });
  const int lane = team.lane;
  int32_t state = 0;
  for (int j = 0; j < n; ++j) {
    __syncwarp();
    const auto square = real_part(s[j * step + j]);
    if (state == 0 && !(square > 0)) state = j + 1;
    const bool goes_on = state == 0;
    __syncwarp();
    const T root = T(std::sqrt(square));
    for (int r = j + lane; r < n && goes_on; r += width) s[r * step + j] = r == j ? root : s[r * step + j] / root;
    __syncwarp();
    for (int r = j + 1 + lane; r < n && goes_on; r += width)
      for (int c = j + 1; c <= r; ++c) s[r * step + c] -= s[r * step + j] * conjugate_if(true, s[c * step + j]);
  }
  __syncwarp();
  if (!team.writes) return;
  team.each(to, n, n, [&](int r, int c) { to(team.number, r, c) = conjugate_if(conjugate, s[r * step + c]); });
  if (lane == 0) info[team.number] = state;
}

/// What is done with a right side, in this order.
struct Steps {
  bool exchange, lower, lower_unit, upper, upper_unit, exchange_back;
  bool conjugate, reflect;  // the matrix; its upper triangle is the lower one reflected and conjugated
};

template <class T>
__device__ void solve_lower(const T* s, int step, T* x, int x_step, int n, bool unit) {
  for (int i = 0; i < n; ++i) {
    T sum = x[i * x_step];
    for (int j = 0; j < i; ++j) sum -= s[i * step + j] * x[j * x_step];
    x[i * x_step] = unit ? sum : sum / s[i * step + i];
  }
}
template <class T>
__device__ void solve_upper(const T* s, int step, T* x, int x_step, int n, bool unit) {
  for (int i = n - 1; i >= 0; --i) {
    T sum = x[i * x_step];
    for (int j = n - 1; j > i; --j) sum -= s[i * step + j] * x[j * x_step];
    x[i * x_step] = unit ? sum : sum / s[i * step + i];
  }
}
/// Exchange k of rows, unless the pivot is reported.
template <class T>
__device__ void exchange(T* x, int x_step, int k, const int32_t* pivots, int n, const PivotReporters& report) {
  const int p = report.checked(pivots[k], n) - 1;
  const T kept = x[k * x_step];
  x[k * x_step] = x[p * x_step], x[p * x_step] = kept;
}
template <class T>
struct System {
  View<const T> a, right;
  View<T> x;
  const int32_t* pivots;
  Steps steps;
  PivotReporters report;
};

/// A team solves for `width` of the right sides of a matrix.
template <class T>
__global__ void __launch_bounds__(kSmallBlock)
    solve(HB_ARGUMENT(System<T>) in, int width, int64_t parts) {
  HB_DYNAMIC_SHARED(T, rooms);
  const View<const T>&a = in.a, &right = in.right;
  const Steps& steps = in.steps;
  const SmallTeam team(width, a.count * parts);
  const int64_t matrix = team.number / parts, first = team.number % parts * width;
  const int n = static_cast<int>(a.rows), step = row_step(n), x_step = width + 1;
  const int many = static_cast<int>(right.columns - first < width ? right.columns - first : width);
  T *const s = team.room(rooms, n * (step + x_step)), *const y = s + n * step;
  team.each(a, n, n, [&](int r, int c) {
    const bool reflected = steps.reflect && c > r;
    s[r * step + c] = conjugate_if(steps.conjugate != reflected, reflected ? a(matrix, c, r) : a(matrix, r, c));
  });
  team.each(right, n, many, [&](int r, int c) { y[r * x_step + c] = right(matrix, r, first + c); });
  __syncwarp();
  if (team.lane < many) {
    T* const mine = y + team.lane;
    const int32_t* const swaps = in.pivots + matrix * n;
    if (steps.exchange)
      for (int k = 0; k < n; ++k) exchange(mine, x_step, k, swaps, n, in.report);
    if (steps.lower) solve_lower(s, step, mine, x_step, n, steps.lower_unit);
    if (steps.upper) solve_upper(s, step, mine, x_step, n, steps.upper_unit);
    if (steps.exchange_back)
      for (int k = n - 1; k >= 0; --k) exchange(mine, x_step, k, swaps, n, in.report);
  }
  __syncwarp();
  if (team.writes) team.each(in.x, n, many, [&](int r, int c) { in.x(matrix, r, first + c) = y[r * x_step + c]; });
}

Steps steps_of(const SmallSystem& system) {
  Steps s{};
  s.conjugate = system.conjugate;
  switch (system.kind) {
    case SmallSystem::triangle:
      s.upper = system.upper != system.turned, s.lower = !s.upper;
      s.upper_unit = s.lower_unit = system.unit;
      break;
    case SmallSystem::lu:
      s.lower = s.upper = true;
      s.exchange_back = s.upper_unit = system.turned;
      s.exchange = s.lower_unit = !system.turned;
      break;
    case SmallSystem::cholesky:
      s.lower = s.upper = s.reflect = true;
  }
  return s;
}

}  // namespace

bool small_lu(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  bool suits = false;
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const int64_t m = a.size(1), n = a.size(2);
    const int width = team_width(m);
    const size_t room = static_cast<size_t>(m * row_step(n)) * sizeof(T);
    suits = suits_teams(a.size(0), std::max(m, n), room);
    if (!suits) return;
    const SmallTeams teams(a.size(0), width, room);
    allow_shared<&factor_lu<T>>(kTeamRoom);
    HB_LAUNCH(factor_lu<T>, teams.blocks, teams.threads, teams.shared, current_stream(), View<const T>(a), View<T>(lu),
              data<int32_t>(pivots), data<int32_t>(info), width);
  });
  return suits;
}
bool small_cholesky(const Tensor& a, const Tensor& factor, bool upper, const Tensor& info) {
  bool suits = false;
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = a.size(1);
    const int width = team_width(n);
    const size_t room = static_cast<size_t>(n * row_step(n)) * sizeof(T);
    suits = suits_teams(a.size(0), n, room);
    if (!suits) return;
    const SmallTeams teams(a.size(0), width, room);
    allow_shared<&factor_cholesky<T>>(kTeamRoom);
    const View<const T> from(a);
    const View<T> to(factor);
    HB_LAUNCH(factor_cholesky<T>, teams.blocks, teams.threads, teams.shared, current_stream(),
              upper ? from.turned() : from, upper ? to.turned() : to, upper, data<int32_t>(info), width);
  });
  return suits;
}
bool small_solve(const SmallSystem& system, const Tensor& a, const Tensor& pivots, const Tensor& right,
                 const Tensor& x) {
  bool suits = false;
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = x.size(1), columns = x.size(2);
    const int width = team_width(std::max(n, columns));
    const int64_t parts = (columns + width - 1) / width;
    const size_t room = static_cast<size_t>(n * (row_step(n) + width + 1)) * sizeof(T);
    suits = suits_teams(a.size(0), n, room);
    if (!suits) return;
    const SmallTeams teams(a.size(0) * parts, width, room);
    allow_shared<&solve<T>>(kTeamRoom);
    const View<const T> matrix(a);
    HB_LAUNCH(solve<T>, teams.blocks, teams.threads, teams.shared, current_stream(),
              System<T>{system.turned ? matrix.turned() : matrix, View<const T>(right), View<T>(x),
                        data<const int32_t>(pivots), steps_of(system), pivot_reporters()},
              width, parts);
  });
  return suits;
}

}  // namespace hb::cuda
