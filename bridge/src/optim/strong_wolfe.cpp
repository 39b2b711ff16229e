#include "strong_wolfe.h"

#include <algorithm>
#include <cmath>

namespace hb::bridge::optim {
namespace {

constexpr double kArmijo = 1e-4, kCurvature = 0.9;
constexpr int64_t kMaxIterations = 25;

/// The minimum of the cubic through two points with their slopes, kept within [low, high].
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (square < 0) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                               : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}

struct Search {
  const std::function<LinePoint(double)>& evaluate;
  const LinePoint& start;
  int64_t evaluations = 0, iterations = 0;
  LinePoint bracket[2];
  bool done = false;

  LinePoint at(double t) {
    ++evaluations;
    return evaluate(t);
  }
  bool rises(const LinePoint& p) const { return p.loss > start.loss + kArmijo * p.t * start.slope; }
  bool flat(const LinePoint& p) const { return std::abs(p.slope) <= -kCurvature * start.slope; }

  /// Steps outwards until two points hold an acceptable one between them.
  void find_bracket(double t) {
    LinePoint previous = start, now = at(t);
    while (iterations < kMaxIterations) {
      if (rises(now) || (iterations > 1 && now.loss >= previous.loss) || (!flat(now) && now.slope >= 0)) {
        bracket[0] = previous, bracket[1] = now;
        return;
      }
      if (flat(now)) {
        bracket[0] = bracket[1] = now;
        done = true;
        return;
      }
      const double next = cubic_minimum(previous, now, now.t + 0.01 * (now.t - previous.t), now.t * 10);
      previous = now;
      now = at(next);
      ++iterations;
    }
    bracket[0] = start, bracket[1] = now;
  }

  /// A trial point well inside the bracket; `cramped`: the last one lay close to an end.
  double trial(bool& cramped) const {
    const double low = std::min(bracket[0].t, bracket[1].t), high = std::max(bracket[0].t, bracket[1].t);
    double t = cubic_minimum(bracket[0], bracket[1], low, high);
    const double margin = 0.1 * (high - low);
    if (std::min(high - t, t - low) >= margin) {
      cramped = false;
    } else if (cramped || t >= high || t <= low) {
      t = std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
      cramped = false;
    } else {
      cramped = true;
    }
    return t;
  }

  /// Narrows the bracket; bracket[low] has the lower loss.
  int zoom(double reach, double tolerance_change) {
    int low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
    bool cramped = false;
    while (!done && iterations < kMaxIterations) {
      if (std::abs(bracket[1].t - bracket[0].t) * reach < tolerance_change) break;
      const LinePoint now = at(trial(cramped));
      ++iterations;
      if (rises(now) || now.loss >= bracket[low].loss) {
        bracket[1 - low] = now;
        low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
      } else {
        if (flat(now)) {
          done = true;
        } else if (now.slope * (bracket[1 - low].t - bracket[low].t) >= 0) {
          bracket[1 - low] = bracket[low];
        }
        bracket[low] = now;
      }
    }
    return low;
  }
};

}  // namespace

LineSearch strong_wolfe(const std::function<LinePoint(double t)>& evaluate, double t, double reach,
                        const LinePoint& start, double tolerance_change) {
  Search search{evaluate, start, 0, 0, {}, false};
  search.find_bracket(t);
  const int low = search.zoom(reach, tolerance_change);
  return {search.bracket[low], search.evaluations};
}

}  // namespace hb::bridge::optim
