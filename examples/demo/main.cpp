// The demo: trains an MLP and a small convolutional net on handwritten digits in f32, bf16 and fp16 and shows
// what each precision costs and reaches.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "process.h"
#include "terminal.h"
#include "train.h"

namespace demo {
namespace {

constexpr double kWanted = 0.96;

// Beside the installed program, else in the source tree.
std::string default_digits() {
  std::error_code none;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  const auto installed = here.parent_path() / "share/halfbridge/digits.csv.gz";
  return std::filesystem::exists(installed, none) ? installed.string() : EXAMPLE_DIGITS;
}

struct Options {
  std::string digits = default_digits();
  std::string mnist;  // a folder, or empty
  std::string json;
  std::string only;  // part of "digits mlp f32"
  double epochs = 1;
  uint64_t seed = 1;
};

struct Row {
  Plan plan;
  Outcome outcome;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key == "--help" || i + 1 == argc) {
      std::printf(
          "usage: demo [--data DIR] [--json FILE] [--digits FILE.csv.gz] [--only TEXT] [--epochs X] [--seed "
          "N]\n"
          "  --data DIR    also trains on the MNIST files in DIR (IDX, plain or gzipped)\n"
          "  --json FILE   writes the table there\n"
          "  --only TEXT   only the trainings whose name (as 'digits mlp bf16') contains TEXT\n"
          "  --epochs X    multiplies the number of epochs\n"
          "  --seed N      of the weights and the order of the images (1)\n");
      std::exit(key == "--help" ? 0 : 2);
    }
    const std::string value = argv[++i];
    if (key == "--data") {
      options.mnist = value;
    } else if (key == "--json") {
      options.json = value;
    } else if (key == "--digits") {
      options.digits = value;
    } else if (key == "--only") {
      options.only = value;
    } else if (key == "--epochs") {
      options.epochs = std::stod(value);
    } else if (key == "--seed") {
      options.seed = std::stoull(value);
    } else {
      throw std::invalid_argument("unknown option " + key + " (--help lists them)");
    }
  }
  return options;
}

std::vector<Plan> make_plans(const Options& options) {
  std::vector<Plan> plans;
  for (const std::string data : {"digits", "mnist"}) {
    if (data == "mnist" && options.mnist.empty()) continue;
    for (const std::string net : {"mlp", "conv"}) {
      for (const auto precision : {Precision::kF32, Precision::kBf16, Precision::kFp16}) {
        Plan plan{data, net, precision, data == "mnist" ? 8 : net == "mlp" ? 40 : 20, 64, 0.05, options.seed};
        plan.epochs = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(plan.epochs) * options.epochs));
        const std::string name = data + " " + net + " " + name_of(precision);
        if (name.find(options.only) != std::string::npos) plans.push_back(plan);
      }
    }
  }
  if (plans.empty()) throw std::invalid_argument("no training's name contains '" + options.only + "'");
  return plans;
}

// In a process of its own: nothing of LibTorch's has run in this one, so there are no threads to lose.
Outcome run(const Plan& plan, const Options& options) {
  const std::string text = in_own_process([&] {
    const auto data = plan.data == "mnist" ? read_mnist(options.mnist) : hold_back(read_digits(options.digits), 5);
    const auto o = train(plan, data.first, data.second);
    std::ostringstream out;
    out.precision(17);
    out << o.accuracy << ' ' << o.loss << ' ' << o.ms_per_step << ' ' << o.peak_mib << ' ' << o.skipped;
    return out.str();
  });
  Outcome o;
  std::istringstream(text) >> o.accuracy >> o.loss >> o.ms_per_step >> o.peak_mib >> o.skipped;
  return o;
}

void print_table(const std::vector<Row>& rows) {
  std::printf("\n  %s\n", bold("data    net   precision  accuracy   ms/step  speed  peak MiB  skipped").c_str());
  double f32 = 0;
  for (const auto& row : rows) {
    if (row.plan.precision == Precision::kF32) f32 = row.outcome.ms_per_step;
    char accuracy[16], speed[16];
    std::snprintf(accuracy, sizeof accuracy, "%8.4f", row.outcome.accuracy);
    std::snprintf(speed, sizeof speed, f32 > 0 ? "%5.2fx" : "     -", f32 / row.outcome.ms_per_step);
    std::printf("  %-6s  %-4s  %-9s  %s  %8.3f %s  %8.1f  %7lld\n", row.plan.data.c_str(), row.plan.net.c_str(),
                name_of(row.plan.precision),
                (row.outcome.accuracy >= kWanted ? green(accuracy) : red(accuracy)).c_str(), row.outcome.ms_per_step,
                speed, row.outcome.peak_mib, static_cast<long long>(row.outcome.skipped));
  }
  std::printf("%s\n", dim("  ms/step: median; speed: against f32; peak MiB: growth of resident memory while training;\n"
                          "  skipped: fp16 steps whose scaled gradients overflowed")
                          .c_str());
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream file(path);
  file.precision(9);
  file << "{\"runs\":[";
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    file << (i ? "," : "") << "\n  {\"data\":\"" << row.plan.data << "\",\"net\":\"" << row.plan.net
         << "\",\"precision\":\"" << name_of(row.plan.precision) << "\",\"accuracy\":" << row.outcome.accuracy
         << ",\"ms_per_step\":" << row.outcome.ms_per_step << ",\"peak_mib\":" << row.outcome.peak_mib << "}";
  }
  file << "\n]}\n";
  if (!file.flush()) throw std::runtime_error("could not write " + path);
}

int main_checked(int argc, char** argv) {
  const auto options = parse(argc, argv);
  const auto plans = make_plans(options);
  if (!options.mnist.empty() && !has_mnist(options.mnist)) {
    throw std::runtime_error(options.mnist + ": no MNIST images (train- or t10k-images-idx3-ubyte, plain or .gz)");
  }
  std::printf("%s\n", bold("Training on handwritten digits").c_str());
  std::vector<Row> rows;
  for (const auto& plan : plans) rows.push_back({plan, run(plan, options)});
  print_table(rows);
  if (!options.json.empty()) write_json(options.json, rows);
  int64_t below = 0;
  for (const auto& row : rows) below += row.outcome.accuracy < kWanted;
  if (below == 0) {
    std::printf("\n%s every net reaches %.2f on images it has not seen\n", green("ok").c_str(), kWanted);
  } else {
    std::printf("\n%s %lld of %zu trainings stay below %.2f\n", red("FAILED").c_str(), static_cast<long long>(below),
                rows.size(), kWanted);
  }
  return below == 0 ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  try {
    return demo::main_checked(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo: %s\n", error.what());
    return 2;
  }
}
