#include "plot.h"

#include <algorithm>

#include <fmt/format.h>

namespace hb::cli::amp_report {

namespace {

constexpr double kWidth = 560, kLeft = 18, kRight = 8, kTop = 18, kBars = 62, kPanel = kTop + kBars + 8, kLabels = 18;
constexpr int kInfinity = 16;  // 2^16 is beyond fp16
constexpr int kLowestShown = -60;

class Panels {
 public:
  Panels(const GradientCounts& parameters, const GradientCounts& outputs, const Axis& axis)
      : parameters_(parameters), outputs_(outputs), axis_(axis) {
    for (size_t i = 0; i < GradientCounts::kBins; ++i) most_ = std::max(most_, parameters.bins[i] + outputs.bins[i]);
  }

  /// The gradients times 2^power.
  void add(int power, const std::string& title) {
    const double floor = top_ + kTop + kBars;
    zone("lost", axis_.low, kSmallest);
    zone("coarse", kSmallest, kSmallestNormal);
    zone("lost", kInfinity, axis_.high);
    for (int e = axis_.low; e < axis_.high; ++e) bars(e, power);
    line("edge", kSmallest), line("normal", kSmallestNormal), line("edge", kInfinity);
    svg_ +=
        fmt::format(R"(<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>)", kLeft, kWidth - kRight, floor, floor);
    svg_ += fmt::format(R"(<text class="title" x="{}" y="{}">{}</text>)", kLeft, top_ + 13, title);
    top_ += kPanel;
  }
  std::string finish() {
    for (int e = axis_.low - axis_.low % 8; e <= axis_.high; e += 8)
      if (e >= axis_.low)
        svg_ += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x(e), top_ + 10,
                            e == 0 ? "1" : fmt::format("2^{}", e));
    return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Histogram of gradients">)", kWidth,
                       top_ + kLabels) +
           svg_ + "</svg>";
  }

 private:
  double x(int power) const {
    return kLeft + (kWidth - kLeft - kRight) * (power - axis_.low) / static_cast<double>(axis_.high - axis_.low);
  }
  void zone(const char* what, int from, int to) {
    from = std::clamp(from, axis_.low, axis_.high), to = std::clamp(to, axis_.low, axis_.high);
    if (from >= to) return;
    svg_ += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)", what, x(from),
                        top_ + kTop, x(to) - x(from), kBars);
  }
  void line(const char* what, int power) {
    svg_ += fmt::format(R"(<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>)", what, x(power), x(power),
                        top_ + kTop, top_ + kTop + kBars);
  }
  /// Elements that lie between 2^e and 2^(e + 1) when scaled; the ends of the axis hold what lies beyond.
  uint64_t at(const GradientCounts& counts, int e, int power) const {
    const uint64_t up_to = e + 1 == axis_.high ? counts.finite() : counts.below(e + 1 - power);
    return up_to - (e == axis_.low ? 0 : counts.below(e - power));
  }
  void bars(int e, int power) {
    double y = top_ + kTop + kBars;
    for (const auto& [name, counts] : {std::pair{"parameters", &parameters_}, std::pair{"outputs", &outputs_}}) {
      const uint64_t n = at(*counts, e, power);
      if (n == 0) continue;
      // What is there is seen, however little it is.
      const double share = static_cast<double>(n) / static_cast<double>(std::max<uint64_t>(most_, 1));
      const double height = std::min(std::max(share * kBars, 1.0), y - top_ - kTop);
      y -= height;
      svg_ += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>2^{} to )"
                          R"(2^{}: {} of {}</title></rect>)",
                          name, x(e) + 0.5, y, x(e + 1) - x(e) - 1, height, e, e + 1, count_text(n), name);
    }
  }

  const GradientCounts &parameters_, &outputs_;
  const Axis axis_;
  uint64_t most_ = 0;
  double top_ = 0;
  std::string svg_;
};

}  // namespace

Axis axis_of(const Report& report) {
  Axis axis;
  const int shift = report.advice ? report.advice->power : 0;
  for (int i = 0; i < static_cast<int>(GradientCounts::kBins); ++i) {
    if (report.all.bins[static_cast<size_t>(i)] == 0) continue;
    const int power = GradientCounts::kLowest + i;
    axis.low = std::min({axis.low, power, power + shift});
    axis.high = std::max({axis.high, power + 1, power + 1 + shift});
  }
  axis.low = std::max(axis.low, kLowestShown);
  axis.high = std::min(axis.high, 40);
  return axis;
}

std::string plot(const GradientCounts& parameters, const GradientCounts& outputs, const std::optional<Fit>& advice,
                 const Axis& axis) {
  Panels panels(parameters, outputs, axis);
  panels.add(0, "unscaled");
  if (advice) panels.add(advice->power, "times " + scale_text(advice->power));
  return panels.finish();
}

}  // namespace hb::cli::amp_report
