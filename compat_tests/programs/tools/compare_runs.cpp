// Compares the records of two runs of one program (the .safetensors files that run.h writes), LibTorch's
// first:
//   initial/*    the weights must be the same within --ulp units in the last place
//   series/*     losses and the like within --tolerance (absolute below 1, relative above) over the first
//   --steps values anything else (final weights, samples) is reported only: small differences grow with every
//   step after the compared ones
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using Arrays = std::map<std::string, std::vector<float>>;

static Arrays read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t length = 0;
  if (!file.read(reinterpret_cast<char*>(&length), 8)) throw std::runtime_error("could not read " + path);
  std::string text(length, ' ');
  file.read(text.data(), static_cast<std::streamsize>(length));
  const auto header = nlohmann::json::parse(text);
  Arrays arrays;
  for (const auto& item : header.items()) {
    const auto& at = item.value().at("data_offsets");
    std::vector<float> values((at[1].get<uint64_t>() - at[0].get<uint64_t>()) / 4);
    file.seekg(static_cast<std::streamoff>(8 + length + at[0].get<uint64_t>()));
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
    arrays[item.key()] = std::move(values);
  }
  if (!file) throw std::runtime_error(path + " is shorter than its header says");
  return arrays;
}

static int64_t ulps(float a, float b) {
  auto ordered = [](float x) -> int64_t {
    int32_t bits;
    std::memcpy(&bits, &x, 4);
    return bits < 0 ? -static_cast<int64_t>(bits & 0x7fffffff) : bits;
  };
  return a == b ? 0 : std::abs(ordered(a) - ordered(b));
}

struct Report {
  double tolerance = 1e-3, accuracy_tolerance = 0.02;
  int64_t max_ulps = 2;
  size_t steps = 50;
  int failures = 0;
  size_t initial_tensors = 0, initial_same = 0;
  int64_t initial_worst = 0;
  double final_worst = 0;
  std::string final_name;

  void initial(const std::string& name, const std::vector<float>& want, const std::vector<float>& got) {
    int64_t worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      const int64_t apart = std::isfinite(got[i]) ? ulps(want[i], got[i]) : INT32_MAX;
      if (apart > worst) worst = apart, at = i;
    }
    ++initial_tensors;
    initial_same += worst == 0;
    initial_worst = std::max(initial_worst, worst);
    if (worst <= max_ulps) return;
    ++failures;
    std::printf("FAILED %s[%zu]: expected %.9g, got %.9g, %lld ULP apart (%lld allowed)\n", name.c_str(), at, want[at],
                got[at], static_cast<long long>(worst), static_cast<long long>(max_ulps));
  }

  void series(const std::string& name, const std::vector<float>& want, const std::vector<float>& got) {
    const double allowed = name.find("accuracy") != std::string::npos ? accuracy_tolerance : tolerance;
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < std::min(want.size(), steps); ++i) {
      const double apart = std::isfinite(want[i]) && std::isfinite(got[i])
                               ? std::fabs(double(want[i]) - got[i]) / std::max(1.0, std::fabs(double(want[i])))
                               : INFINITY;
      if (apart > worst) worst = apart, at = i;
    }
    failures += worst > allowed;
    std::printf(
        "%s %-24s %3zu values, from %.6g to %.6g; furthest apart %.2e at %zu (%.9g, %.9g), %.2g%% of what is "
        "allowed\n",
        worst > allowed ? "FAILED" : "ok    ", name.c_str(), want.size(), want.empty() ? 0.0 : want.front(),
        want.empty() ? 0.0 : want.back(), worst, at, want.empty() ? 0.0 : want[at], want.empty() ? 0.0 : got[at],
        100 * worst / allowed);
  }

  void other(const std::string& name, const std::vector<float>& want, const std::vector<float>& got) {
    for (size_t i = 0; i < want.size(); ++i) {
      const double apart = std::fabs(double(want[i]) - got[i]);
      if (apart > final_worst) final_worst = apart, final_name = name;
    }
  }
};

static void compare(const Arrays& want, const Arrays& got, Report& report) {
  size_t series = 0;
  for (const auto& item : want) {
    auto other = got.find(item.first);
    if (other == got.end() || other->second.size() != item.second.size()) {
      std::printf("FAILED %s: %s\n", item.first.c_str(), other == got.end() ? "only in the first" : "another size");
      ++report.failures;
      continue;
    }
    if (item.first.rfind("initial/", 0) == 0) {
      report.initial(item.first, item.second, other->second);
    } else if (item.first.rfind("series/", 0) == 0) {
      report.series(item.first.substr(7), item.second, other->second);
      ++series;
    } else {
      report.other(item.first, item.second, other->second);
    }
  }
  for (const auto& item : got) {
    if (want.count(item.first)) continue;
    std::printf("FAILED %s: only in the second\n", item.first.c_str());
    ++report.failures;
  }
  if (report.initial_tensors == 0 || series == 0) {
    std::printf("FAILED nothing to compare: %zu initial weights, %zu series\n", report.initial_tensors, series);
    ++report.failures;
  }
  std::printf("initial weights: %zu of %zu tensors bit for bit, the others within %lld ULP\n", report.initial_same,
              report.initial_tensors, static_cast<long long>(report.initial_worst));
  std::printf("final state: furthest apart %.2e%s%s\n", report.final_worst, report.final_name.empty() ? "" : " in ",
              report.final_name.c_str());
}

int main(int argc, char** argv) try {
  if (argc < 3)
    throw std::invalid_argument(
        "compare_runs LIBTORCH.safetensors HALFBRIDGE.safetensors [--tolerance X] "
        "[--ulp N] [--steps N]");
  Report report;
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--tolerance") {
      report.tolerance = std::stod(argv[i + 1]);
    } else if (key == "--ulp") {
      report.max_ulps = std::stoll(argv[i + 1]);
    } else if (key == "--steps") {
      report.steps = std::stoull(argv[i + 1]);
    } else {
      throw std::invalid_argument("unknown option " + key);
    }
  }
  compare(read(argv[1]), read(argv[2]), report);
  return report.failures == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_runs: %s\n", error.what());
  return 2;
}
