// bench --workload NAME [--min-time S] [--threads N] [--max-memory MIB]: times one workload and prints one line of
// JSON.
// `--list` names them all.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "captured.h"
#include "workload.h"

namespace {

double status_mib(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == key && status >> kib) return kib / 1024;
  }
  return 0;
}

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// Processor time of all threads: says less where threads wait by spinning, more where others use the machine
// too.
double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

// The first iterations make caches and plans, a captured step's first three its graph: at least four, and for a third
// of the time or ten of them.
void warm_up(const bench::Prepared& prepared, double min_ms) {
  const double start = now_ms();
  for (int i = 0; i < 4 || (i < 10 && now_ms() - start < min_ms / 3); ++i) prepared.iteration();
}

void time_workload(const bench::Workload& workload, double min_ms) {
  torch::manual_seed(1);
  torch::rand({16}).add(1).sum().item<float>();  // what any program's first operation loads is not the workload's
  const double before = status_mib("VmRSS:");
  const auto prepared = workload.prepare();
  warm_up(prepared, min_ms);
  std::vector<double> times;
  // The least of all peaks: now and then a captured step runs eagerly.
  size_t tensors = std::numeric_limits<size_t>::max();
  const double start = now_ms(), cpu_start = cpu_ms();
  while (times.size() < 3 || now_ms() - start < min_ms) {
    bench::reset_tensor_peak();
    const double at = now_ms();
    prepared.iteration();
    times.push_back((now_ms() - at) / static_cast<double>(prepared.repeats));
    tensors = std::min(tensors, bench::tensor_peak());
    if (now_ms() - start > 20 * min_ms) break;
  }
  const double cpu = (cpu_ms() - cpu_start) / static_cast<double>(times.size()) / static_cast<double>(prepared.repeats);
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"workload\":\"%s\",\"ms\":%.9g,\"best_ms\":%.9g,\"cpu_ms\":%.9g,\"iterations\":%zu,\"peak_mib\":%."
      "3f,\"resident_"
      "mib\":%.3f,\"tensor_peak_mib\":%.3f,"
      "\"flop\":%.9g,\"bytes\":%.9g,\"items\":%.9g,\"unit\":\"%s\",\"threads\":%d}\n",
      workload.name.c_str(), times[times.size() / 2], times[0], cpu, times.size(), status_mib("VmHWM:") - before,
      status_mib("VmHWM:"), static_cast<double>(tensors) / (1 << 20), prepared.flop, prepared.bytes, prepared.items,
      prepared.unit.c_str(), torch::get_num_threads());
}

int run(int argc, char** argv) {
  const auto all = bench::workloads();
  std::string name;
  double min_ms = 1000;
  int threads = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key == "--list") {
      for (const auto& workload : all) std::printf("%s\n", workload.name.c_str());
      return 0;
    }
    if (i + 1 == argc) throw std::invalid_argument("expected a value after " + key);
    const std::string value = argv[++i];
    if (key == "--workload") {
      name = value;
    } else if (key == "--min-time") {
      min_ms = 1000 * std::stod(value);
    } else if (key == "--max-memory") {
      bench::graph_max_memory = static_cast<size_t>(std::stod(value) * (1 << 20));
    } else if (key == "--threads") {
      threads = std::stoi(value);
    } else {
      throw std::invalid_argument("unknown option " + key);
    }
  }
  torch::set_num_threads(threads);
  for (const auto& workload : all) {
    if (workload.name != name) continue;
    time_workload(workload, min_ms);
    return 0;
  }
  throw std::invalid_argument("no workload '" + name + "' (--list names them)");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 2;
  }
}
