// QR of matrices with few columns by Householder's reflections, as LAPACK makes them. A lane has a column.
#include "backend/decompositions.h"
#include "cuda/small_matrices.h"
#include "cuda/small_team.h"

namespace hb::cuda {
namespace {

constexpr size_t kQrRoom = size_t{32} << 10;

/// Reflections of A (m, n), or, with `given` factors, those that A holds. Where R goes, with the reflections below it if
/// `whole`, and the first columns of Q, of which there may be none.
template <class T>
struct QrWork {
  View<const T> a;
  View<T> r, q;
  const T* given;
  T* tau;
  int k;
  bool whole;
  HB_HD int step() const { return row_step(a.columns); }
  HB_HD int q_step() const { return q.columns > 0 ? row_step(q.columns) : 0; }
  HB_HD int elements() const { return static_cast<int>(a.rows) * (step() + q_step()) + k; }
};

/// Makes column j zero below the diagonal and leaves the reflection's vector there. Returns its factor.
template <class T>
__device__ T reflect(const SmallTeam& team, T* s, int step, int m, int j) {
  using R = math::magnitude_t<T>;
  const T alpha = s[j * step + j];
  R largest(0);
  for (int r = j + 1 + team.lane; r < m; r += team.width) largest = larger_or_nan(largest, larger_part(s[r * step + j]));
  largest = team.reduce(largest, larger_or_nan<R>);
  const bool is_zero = largest == 0 && alpha == T(real_part(alpha));
  largest = larger_or_nan(largest, larger_part(alpha));
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  R sum(0);
  for (int r = j + team.lane; r < m; r += team.width) sum += square(scaled(s[r * step + j], -exponent));
  sum = team.reduce(sum, [](R a, R b) { return a + b; });
  const R beta = -std::copysign(scaled(std::sqrt(sum), exponent), real_part(alpha));
  __syncwarp();
  if (!is_zero) {
    for (int r = j + 1 + team.lane; r < m; r += team.width) s[r * step + j] /= alpha - T(beta);
    if (team.lane == 0) s[j * step + j] = T(beta);
  }
  __syncwarp();
  return is_zero ? T(0) : (T(beta) - alpha) / T(beta);
}
/// The part of a column in the direction of reflection j, whose vector has 1 in row j, times `factor`, is taken away.
template <class T>
__device__ void apply(const T* s, int step, int m, int j, const T& factor, T* column, int column_step) {
  T sum = column[j * column_step];
  for (int r = j + 1; r < m; ++r) sum += conjugate_if(true, s[r * step + j]) * column[r * column_step];
  sum *= factor;
  column[j * column_step] -= sum;
  for (int r = j + 1; r < m; ++r) column[r * column_step] -= s[r * step + j] * sum;
}

template <class T>
__global__ void __launch_bounds__(kSmallBlock, 1) decompose(HB_ARGUMENT(QrWork<T>) w, int width) {
  HB_DYNAMIC_SHARED(T, rooms);
  const SmallTeam team(width, w.a.count);
  const int m = static_cast<int>(w.a.rows), n = static_cast<int>(w.a.columns), wide = static_cast<int>(w.q.columns);
  const int step = w.step(), q_step = w.q_step(), k = w.k;
  T *const s = team.room(rooms, w.elements()), *const y = s + m * step, *const factors = y + m * q_step;
  team.each(w.a, m, n, [&](int r, int c) { s[r * step + c] = w.a(team.number, r, c); });
  __syncwarp();
  for (int j = 0; j < k; ++j) {
    const T factor = w.given ? w.given[team.number * k + j] : reflect(team, s, step, m, j);
    if (team.lane == 0) factors[j] = factor;
    if (w.given) continue;
    for (int c = j + 1 + team.lane; c < n; c += width) apply(s, step, m, j, conjugate_if(true, factor), s + c, step);
    __syncwarp();
  }
  __syncwarp();
  for (int c = team.lane; c < wide; c += width) {
    for (int r = 0; r < m; ++r) y[r * q_step + c] = T(r == c ? 1 : 0);
    for (int j = k - 1; j >= 0; --j) apply(s, step, m, j, factors[j], y + c, q_step);
  }
  __syncwarp();
  if (!team.writes) return;
  team.each(w.r, static_cast<int>(w.r.rows), static_cast<int>(w.r.columns), [&](int r, int c) {
    w.r(team.number, r, c) = w.whole || r <= c ? s[r * step + c] : T(0);
  });
  team.each(w.q, m, wide, [&](int r, int c) { w.q(team.number, r, c) = y[r * q_step + c]; });
  for (int j = team.lane; j < k && w.tau; j += width) w.tau[team.number * k + j] = factors[j];
}

/// Launches for as many teams as there are matrices, if these are small enough.
template <class T>
bool launch_qr(const QrWork<T>& w) {
  const size_t room = static_cast<size_t>(w.a.rows * (w.a.columns + w.q.columns + 2) + w.k) * sizeof(T);
  const int64_t side = std::max(w.a.columns, w.q.columns);
  if (side > kSmallSide || room > kQrRoom) return false;
  int width = team_width(side);
  while (width < kWarp && static_cast<size_t>(kWarp / width) * room > kQrRoom) width *= 2;
  const SmallTeams teams(w.a.count, width, static_cast<size_t>(w.elements()) * sizeof(T));
  HB_LAUNCH(decompose<T>, teams.blocks, teams.threads, teams.shared, current_stream(), w, width);
  return true;
}

}  // namespace

bool small_qr(const Tensor& a, const Tensor& given, const Tensor& q, const Tensor& r, const Tensor& tau) {
  bool fits = false;
  with_matrix_type(a, [&](auto zero) {
    using T = decltype(zero);
    const auto view = [](const Tensor& t) { return t.defined() ? View<T>(t) : View<T>(); };
    const int64_t k = given.defined() ? given.size(1) : std::min(a.size(1), a.size(2));
    fits = launch_qr<T>({View<const T>(a), view(r), view(q), data<const T>(given), data<T>(tau), static_cast<int>(k),
                         tau.defined()});
  });
  return fits;
}

}  // namespace hb::cuda
