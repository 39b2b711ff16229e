// compare_losses F32.json OTHER.json TOLERANCE: the mean loss of the last quarter of the steps must agree within
// TOLERANCE (relative), the losses must not be the same throughout (then nothing ran in half), and training must have
// done something: the last quarter is below the first. With a fourth argument, "few", there may be fewer than 8 steps,
// the means of all of them are compared, and nothing need have been learned.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

static std::vector<double> losses(const char* path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  const auto& series = json.at("series");
  std::vector<double> all;
  for (const auto& value : series.at(series.contains("loss") ? "loss" : "loss_critic"))
    all.push_back(value.is_null() ? NAN : value.get<double>());
  return all;
}

static double mean(const std::vector<double>& v, size_t from, size_t to) {
  double sum = 0;
  for (size_t i = from; i < to; ++i) sum += v[i];
  return sum / static_cast<double>(to - from);
}

int main(int argc, char** argv) {
  const bool few = argc == 5 && std::string(argv[4]) == "few";
  if (argc != 4 && !few) return std::fprintf(stderr, "usage: compare_losses F32.json OTHER.json TOLERANCE [few]\n"), 2;
  const auto want = losses(argv[1]), got = losses(argv[2]);
  if (want.size() != got.size() || want.size() < (few ? 1 : 8))
    return std::printf("FAILED: different numbers of steps\n"), 1;
  const size_t n = want.size(), quarter = few ? n : n / 4;
  const double start = mean(want, 0, quarter), expected = mean(want, n - quarter, n), end = mean(got, n - quarter, n);
  const double apart = std::abs(end - expected) / expected;
  std::printf("f32 %.4f -> %.4f, here -> %.4f: %.2f %% apart\n", start, expected, end, 100 * apart);
  if (want == got) return std::printf("FAILED: the losses are the same, bit for bit\n"), 1;
  if (!few && !(expected < start)) return std::printf("FAILED: the program does not train\n"), 1;
  if (!(apart <= std::stod(argv[3]))) return std::printf("FAILED: more than %s apart\n", argv[3]), 1;
  return 0;
}
