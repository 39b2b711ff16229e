// Advice on the loss scale: counts of gradients, the file that holds them, what is said of them, and a program run.
#include <amp_report/report.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace {

namespace fs = std::filesystem;
using namespace hb::cli::amp_report;
using Json = nlohmann::json;

torch::Tensor values(std::vector<double> list) { return torch::tensor(list, torch::kDouble); }
torch::Tensor powers(int first, int last) {
  std::vector<double> list;
  for (int e = first; e <= last; ++e) list.push_back(std::ldexp(1.0, e));
  return values(list);
}
GradientCounts counts(const torch::Tensor& t, double scale = 1) {
  GradientCounts c;
  c.add(t, scale);
  return c;
}

TEST(GradientCounts, PutsEachElementWhereItBelongs) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto c = counts(values({0, -0.0, 1, 1.999, 2, -3, inf, -inf, std::nan(""), 1e-60, 1e60}));
  EXPECT_EQ(c.zeros, 2u);
  EXPECT_EQ(c.not_finite, 3u);
  EXPECT_EQ(c.finite(), 6u);
  EXPECT_EQ(c.bins[0 - GradientCounts::kLowest], 2u);
  EXPECT_EQ(c.bins[1 - GradientCounts::kLowest], 2u);
  EXPECT_EQ(c.bins.front(), 1u);
  EXPECT_EQ(c.bins.back(), 1u);
  EXPECT_EQ(c.largest, 1e60);
  EXPECT_EQ(c.below(1), 3u);
  EXPECT_EQ(c.below(1000), 6u);
  EXPECT_EQ(c.below(-1000), 0u);
}

TEST(GradientCounts, TakesEveryDtypeAndLayout) {
  const torch::Tensor x = torch::tensor({1.0f, 4.0f, 0.25f, 0.0f}).reshape({2, 2});
  for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16}) {
    const auto c = counts(x.to(dtype).t());
    EXPECT_EQ(c.finite(), 3u);
    EXPECT_EQ(c.zeros, 1u);
    EXPECT_EQ(c.largest, 4);
    EXPECT_EQ(c.from_half, dtype == torch::kHalf ? 4u : 0u);
  }
  EXPECT_EQ(counts(x.to_sparse()).finite(), 3u);
  EXPECT_EQ(counts(torch::complex(x, x)).finite(), 6u);
  EXPECT_EQ(counts(torch::zeros({0})).finite(), 0u);
  EXPECT_THROW(counts(torch::Tensor()), c10::Error);
  EXPECT_THROW(counts(x, 0), c10::Error);
}

TEST(GradientCounts, DividesByTheScale) {
  EXPECT_EQ(counts(powers(-10, 5) * 1000, 1000).bins, counts(powers(-10, 5)).bins);
  EXPECT_EQ(counts(powers(-10, 5).to(torch::kFloat) * 65536, 65536).bins, counts(powers(-10, 5)).bins);
}

TEST(LossScaleAdvice, IsExact) {
  // One element at each power from 2^-40 to 2^0: 2^15 brings the largest to 2^15, the most that fp16 holds of a power.
  const auto c = counts(powers(-40, 0));
  const auto fitted = fit(c, 0);
  EXPECT_EQ(fitted.below_smallest, 16u);  // 2^-40 to 2^-25
  EXPECT_EQ(fitted.below_normal, 26u);    // to 2^-15
  const auto advice = advise(c);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->power, 15);
  EXPECT_EQ(advice->below_smallest, 1u);  // 2^-40
  EXPECT_EQ(advice->below_normal, 11u);
  EXPECT_EQ(advice->largest, 32768);
  EXPECT_EQ(advise(c, 3)->power, 12);
}

TEST(LossScaleAdvice, AgreesWithRoundingToHalf) {
  torch::manual_seed(1);
  // Over 40 powers of two, so that no scale saves all.
  const torch::Tensor g =
      torch::randn({20000}, torch::kDouble) * torch::exp2(torch::rand({20000}, torch::kDouble) * 40 - 38);
  const auto c = counts(g);
  const auto advice = advise(c);
  ASSERT_TRUE(advice);
  for (int power = -20; power <= 40; ++power) {
    const torch::Tensor size = (g * std::ldexp(1.0, power)).abs();
    const torch::Tensor half = size.to(torch::kHalf);
    const auto below = static_cast<uint64_t>(size.lt(std::ldexp(1.0, -24)).sum().item<int64_t>());
    EXPECT_EQ(fit(c, power).below_smallest, below) << power;
    const bool overflows = half.isinf().any().item<bool>();
    EXPECT_EQ(std::ldexp(c.largest, power) >= kOverflow, overflows) << power;
    if (!overflows) {
      EXPECT_GE(below, advice->below_smallest) << power;
    }
    if (power == advice->power) {
      EXPECT_FALSE(overflows);
    }
    // What lies below the smallest number is what becomes zero, and what is rounded up to it.
    const auto lost = static_cast<uint64_t>((half.eq(0) & size.ne(0)).sum().item<int64_t>());
    EXPECT_LE(lost, below);
  }
}

TEST(LossScaleAdvice, TakesTheScaleNearestToOneOfThoseThatDoAsWell) {
  EXPECT_EQ(advise(counts(powers(-14, 3)))->power, 0);
  EXPECT_EQ(advise(counts(powers(-20, -10)))->power, 6);
  EXPECT_EQ(advise(counts(values({1e6})))->power, -4);  // 62,500
  EXPECT_EQ(advise(counts(values({65519, 1e-7})))->power, 0);
  EXPECT_EQ(advise(counts(values({65520, 1e-7})))->power, -1);
}

TEST(LossScaleAdvice, SaysWhereThereIsNone) {
  EXPECT_FALSE(advise(GradientCounts()));
  EXPECT_FALSE(advise(counts(torch::zeros({4}))));
  EXPECT_FALSE(advise(counts(values({1e60, 1}))));
  GradientRecord record;
  EXPECT_NE(text(make_report(record, 0), {}).find("nothing to advise"), std::string::npos);
}

class AmpReport : public testing::Test {
 protected:
  AmpReport() : folder_(fs::temp_directory_path() / ("halfbridge_amp_report_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~AmpReport() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& content) const {
    std::ofstream(path("run"), std::ios::binary) << content;
    return path("run");
  }
  std::string contents(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The record of compat_tests/trace/program.cpp, which trains a convolution, dropout and a linear layer two steps.
  GradientRecord run(const std::string& variables, const std::string& arguments = "") const {
    const std::string command = "env " + variables + " HALFBRIDGE_AMP_REPORT='" + path("run") +
                                "' " HALFBRIDGE_TRACE_PROGRAM " " + arguments + " > '" + path("out") + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << contents("out");
    return GradientRecord::load(path("run"));
  }
  fs::path folder_;
};

const GradientRow& row(const GradientRecord& record, const std::string& layer, const std::string& name) {
  for (const auto& r : record.rows)
    if (r.path == layer && r.name == name) return r;
  throw std::runtime_error("no row " + layer + " " + name);
}

TEST_F(AmpReport, FilesComeBackAsTheyWere) {
  GradientRecord record;
  record.steps = 7, record.complete = true;
  record.rows.push_back({"Net", "a\tb\n%c", "Linear", "parameter", "weight", counts(powers(-150, 127))});
  record.rows.push_back({"Net", "", "Net", "output", "0", counts(values({0, std::nan("")}))});
  record.save(path("run"));
  const auto read = GradientRecord::load(path("run"));
  EXPECT_EQ(read.steps, 7);
  EXPECT_TRUE(read.complete);
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].path, "a\tb\n%c");
  EXPECT_EQ(read.rows[0].counts.bins, record.rows[0].counts.bins);
  EXPECT_EQ(read.rows[0].counts.largest, std::ldexp(1.0, 127));
  EXPECT_EQ(read.rows[1].counts.zeros, 1u);
  EXPECT_EQ(read.rows[1].counts.not_finite, 1u);
}

TEST_F(AmpReport, RefusesHostileFiles) {
  const std::string head = "halfbridge gradients 1\nsteps 1\nend complete\n", names = "R\tp\tT\tparameter\tw\t";
  const std::string good = head + names + "0\t0\t0\t1.5\t-1\t4,2\n";
  EXPECT_EQ(GradientRecord::load(write(good)).rows.size(), 1u);
  for (const std::string& bad : {std::string(),
                                 std::string("halfbridge gradients 2\n"),
                                 std::string(1000, '\0'),
                                 head + names + "0\t0\t0\t1.5\t-1\t4,2",
                                 head + "a\n",
                                 head + names + "0\t0\t0\t1.5\t-1\t4,2\t1\n",
                                 head + names + "-1\t0\t0\t1.5\t-1\t4,2\n",
                                 head + names + "99999999999999999999\t0\t0\t1.5\t-1\t4,2\n",
                                 head + names + "0\t0\t0\tnan\t-1\t4,2\n",
                                 head + names + "0\t0\t0\t1e400\t-1\t4,2\n",
                                 head + names + "0\t0\t0\t7\t-1\t4,2\n",
                                 head + names + "0\t0\t0\t1.5\t-2147483648\t4,2\n",
                                 head + names + "0\t0\t0\t1.5\t2147483647\t4,2\n",
                                 head + names + "0\t0\t0\t1.5\t127\t4,2\n",
                                 head + names + "0\t0\t0\t1.5\t-1\t4,,2\n",
                                 head + names + "0\t0\t0\t1.5\t-1\t9007199254740992,1\n",
                                 head + names + "9007199254740992\t0\t0\t1.5\t-1\t4,2\n",
                                 head + "R\tp%\tT\tparameter\tw\t0\t0\t0\t0\t0\t\n",
                                 head + "R\tp\tT\tother\tw\t0\t0\t0\t0\t0\t\n",
                                 head + "R\t" + std::string(5000, 'p') + "\tT\toutput\t0\t0\t0\t0\t0\t0\t\n",
                                 head + "steps 18446744073709551615\n"})
    EXPECT_THROW(GradientRecord::load(write(bad)), c10::Error) << bad;
  for (size_t n = 0; n < good.size(); ++n) {  // cut at every byte
    try {
      GradientRecord::load(write(good.substr(0, n)));
      EXPECT_EQ(n, head.size());
    } catch (const c10::Error&) {
    }
  }
  EXPECT_THROW(GradientRecord::load(path("missing")), c10::Error);
  EXPECT_THROW(GradientRecord::load(folder_.string()), c10::Error);
  std::ofstream(path("large")).seekp(std::streamoff{65} << 20) << "x";
  EXPECT_THROW(GradientRecord::load(path("large")), c10::Error);
}

TEST_F(AmpReport, LeavesOutNetworksThatNoGradientReached) {
  GradientRecord record;
  record.complete = true;
  record.rows.push_back({"Net", "fc", "Linear", "parameter", "weight", counts(powers(-3, 0))});
  record.rows.push_back({"Net", "frozen", "Linear", "parameter", "weight", {}});
  record.rows.push_back({"Net#2", "fc", "Linear", "parameter", "weight", {}});
  const Report report = make_report(record, 0);
  ASSERT_EQ(report.layers.size(), 2u);
  EXPECT_EQ(report.layers[0].name, "fc");
  EXPECT_EQ(report.layers[1].name, "frozen");
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("Net#2"), std::string::npos) << report.notes[0];
}

TEST_F(AmpReport, HostileNamesStayText) {
  GradientRecord record;
  const std::string hostile = "<script>alert(1)</script>\x1b[31m\"";
  record.rows.push_back({"Net", hostile, hostile, "parameter", hostile, counts(powers(-30, 0))});
  const Report report = make_report(record, 0);
  const std::string page = html(report);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_EQ(text(report, {}).find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(json(report)).at("layers")[0].at("name"), hostile);
}

TEST_F(AmpReport, CountsTheGradientsOfAProgramThatKnowsNothingOfIt) {
  const auto record = run("A=1");
  EXPECT_TRUE(record.complete);
  EXPECT_EQ(record.steps, 2);
  // Two steps of 16 images.
  const auto elements = [&](const std::string& layer, const std::string& name) {
    const GradientCounts& c = row(record, layer, name).counts;
    EXPECT_EQ(c.not_finite + c.from_half, 0u);
    return c.finite() + c.zeros;
  };
  EXPECT_EQ(elements("conv", "weight"), 2u * 36);
  EXPECT_EQ(elements("conv", "bias"), 2u * 4);
  EXPECT_EQ(elements("conv", "0"), 2u * 16 * 4 * 36);
  EXPECT_EQ(elements("dropout", "0"), 2u * 16 * 36);
  EXPECT_EQ(elements("fc", "weight"), 2u * 360);
  EXPECT_EQ(elements("fc", "0"), 2u * 160);
  EXPECT_EQ(record.rows.size(), 7u);
  // The gradient of a mean of cross entropies: at most 1 / 16.
  const double largest = row(record, "fc", "0").counts.largest;
  EXPECT_LT(largest, 1.0 / 16);
  EXPECT_GT(largest, 0.5 / 16);
}

TEST_F(AmpReport, GradientsAreWithoutTheScaleOfTheLoss) {
  const auto plain = run("A=1"), half = run("HALFBRIDGE_AMP=O1:fp16");
  for (const auto& r : plain.rows) {
    const double ratio = row(half, r.path, r.name).counts.largest / r.counts.largest;
    EXPECT_NEAR(ratio, 1, 0.05) << r.path << ' ' << r.name;
  }
  const Report report = make_report(half, 0);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes[0].find("recorded in fp16"), std::string::npos);
}

TEST_F(AmpReport, TheProgramsCommandSaysWhatToDo) {
  const auto status = [&](const std::string& arguments) {
    return std::system(("'" HALFBRIDGE_PROGRAM "' amp-report " + arguments + " > '" + path("out") + "' 2>&1").c_str());
  };
  EXPECT_EQ(status("--html '" + path("page") + "' --json '" + path("json") + "' -- " HALFBRIDGE_TRACE_PROGRAM), 0);
  EXPECT_NE(contents("out").find("Advised constant loss scale: "), std::string::npos) << contents("out");
  EXPECT_NE(contents("page").find("<svg"), std::string::npos);
  const Json report = Json::parse(contents("json"));
  EXPECT_EQ(report.at("layers").size(), 3u);
  EXPECT_EQ(report.at("steps"), 2);
  EXPECT_LT(report.at("advice").at("largest"), kOverflow);
  EXPECT_NE(status("-- " HALFBRIDGE_TRACE_PROGRAM " help"), 0);  // makes no module
  EXPECT_NE(contents("out").find("left no record"), std::string::npos) << contents("out");
  EXPECT_NE(status(""), 0);
  EXPECT_NE(status("-- false"), 0);
  EXPECT_NE(contents("out").find("'false' ended with status 1"), std::string::npos) << contents("out");
}

}  // namespace
