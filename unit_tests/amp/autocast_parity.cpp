// The dtypes of results under autocast against those that compat_tests/amp/record_autocast.py recorded from
// PyTorch 2.11, case by case, for both lists of classes. CUDA's list is tried on CPU tensors.
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace {

using torch::Tensor;

Tensor full_longs(torch::IntArrayRef sizes, int64_t value) { return torch::full(sizes, value, torch::kLong); }
Tensor longs(torch::IntArrayRef sizes) { return full_longs(sizes, 0); }
Tensor ones_of(torch::IntArrayRef sizes) { return full_longs(sizes, 1); }
Tensor twos(torch::IntArrayRef sizes) { return full_longs(sizes, 2); }
Tensor fours(torch::IntArrayRef sizes) { return full_longs(sizes, 4); }
Tensor eye(const Tensor& like) { return torch::eye(3, like.options()); }
std::vector<int64_t> sizes(std::vector<int64_t> values) { return values; }
Tensor max_unpool3d(const Tensor& t, const Tensor& indices) { return torch::max_unpool3d(t, indices, {2, 2, 2}); }
std::tuple<Tensor, Tensor> pair(const Tensor& a, const Tensor& b) { return {a, b}; }

const std::map<torch::Dtype, std::string> kNames{
    {torch::kFloat, "f32"}, {torch::kDouble, "f64"}, {torch::kHalf, "f16"}, {torch::kBFloat16, "bf16"}};
torch::Dtype dtype_of(const std::string& name) {
  for (const auto& [dtype, text] : kNames)
    if (text == name) return dtype;
  throw std::runtime_error("not a dtype: " + name);
}

// The dtypes of the floating tensors in a result.
void add_dtypes(const Tensor& t, std::string& out) {
  if (t.defined() && t.is_floating_point()) out += (out.empty() ? "" : " ") + kNames.at(t.scalar_type());
}
template <class... Ts>
void add_dtypes(const std::tuple<Ts...>& all, std::string& out) {
  std::apply([&](const auto&... each) { (add_dtypes(each, out), ...); }, all);
}
template <class T>
std::string dtypes(const T& result) {
  std::string out;
  add_dtypes(result, out);
  return out.empty() ? "none" : out;
}

struct Case {
  std::string shapes;
  std::string (*run)(const std::vector<Tensor>&);
};
#define CASE(name, shapes, ...)                                                                   \
  {#name, {shapes, [](const std::vector<Tensor>& t) -> std::string {                              \
             [[maybe_unused]] const Tensor &a = t[0], &b = t[1], &c = t[2], &d = t[3], &e = t[4]; \
             return dtypes(__VA_ARGS__);                                                          \
           }}},
const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all{
#include "amp/recorded_autocast/autocast_cases.def"
  };
  return all;
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

// float64 logits with float32 targets: PyTorch's result follows the targets, here it is promoted.
bool differs(const std::string& name, const std::string& pattern) {
  return pattern == "f64,f32" && (name == "binary_cross_entropy_with_logits" || name == "BCEWithLogitsLoss");
}

// a to e, 0.5 everywhere; what the case does not have is a number.
std::vector<Tensor> arguments(const Case& c, const std::string& pattern, torch::Dtype half) {
  std::vector<torch::Dtype> types;
  for (const auto& p : split(pattern, ',')) types.push_back(p == "h" ? half : dtype_of(p));
  std::vector<Tensor> out;
  for (const auto& shape : split(c.shapes, ' ')) {
    std::vector<int64_t> sizes;
    for (const auto& s : split(shape, ',')) sizes.push_back(std::stoll(s));
    out.push_back(torch::full(sizes, 0.5, out.empty() ? types.front() : types.back()));
  }
  out.resize(5);
  return out;
}

std::string run(const Case& c, const std::string& pattern, torch::DeviceType list, torch::Dtype half) {
  const auto given = arguments(c, pattern, half);
  at::autocast::set_op_list(torch::kCPU, list);
  std::string got;
  try {
    torch::autocast guard(torch::kCPU, half);
    got = c.run(given);
  } catch (const c10::Error& e) {
    got = std::string("error: ") + e.what_without_backtrace();
  }
  at::autocast::set_op_list(torch::kCPU, torch::kCPU);
  return got;
}

std::vector<std::vector<std::string>> recorded(const std::string& file) {
  std::ifstream in(std::string(HALFBRIDGE_AUTOCAST_RECORDS) + "/" + file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(split(line, '\t'));
  return rows;
}

std::set<std::string> listed_for(const std::string& device) {
  std::set<std::string> names;
  for (const auto& row : recorded("autocast_lists.tsv"))
    if (row[1].find(device) != std::string::npos) names.insert(row[0]);
  return names;
}

TEST(AutocastParity, ResultDtypesAreThoseOfPyTorch) {
  const auto rows = recorded("autocast_dtypes.tsv");
  ASSERT_GT(rows.size(), 1000u);
  const auto listed = listed_for("cuda");
  size_t compared = 0;
  std::set<std::string> seen;
  for (size_t r = 1; r < rows.size(); ++r) {
    const auto& row = rows[r];
    const auto found = cases().find(row[0]);
    if (found == cases().end()) continue;
    seen.insert(row[0]);
    for (size_t i = 3; i < row.size(); ++i) {
      // Where PyTorch throws (no kernel for a half type, mixed dtypes) Halfbridge may do better.
      if (differs(row[0], rows[0][i])) continue;
      if (row[i] == "-" || row[i] == "error" || row[i] == "unknown") continue;
      const auto got = run(found->second, rows[0][i], row[1] == "cpu" ? torch::kCPU : torch::kCUDA, dtype_of(row[2]));
      // CUDA's records come from fake tensors, which accept dtypes that kernels refuse; no class, no cast.
      if (row[1] == "cuda" && !listed.count(row[0]) && got.rfind("error", 0) == 0) continue;
      EXPECT_EQ(got, row[i]) << row[0] << " of " << rows[0][i] << ", " << row[1] << "'s list, autocast to " << row[2];
      ++compared;
    }
  }
  EXPECT_EQ(seen.size(), cases().size()) << "a case was not recorded";
  EXPECT_GT(compared, 4000u);
}

// A function that is declared has a class in exactly the lists in which PyTorch has one for it.
TEST(AutocastParity, ClassesStandInPyTorchsLists) {
  // Composed of listed functions in PyTorch, one function here.
  const std::set<std::string> composed{"cross_entropy_loss cuda", "linalg_norm cuda", "square cuda"};
  std::set<std::string> found;
  size_t compared = 0;
  for (const auto& [list, type] : {std::pair{"cpu", torch::kCPU}, std::pair{"cuda", torch::kCUDA}}) {
    const auto listed = listed_for(list);
    for (const auto& op : at::autocast::ops()) {
      using at::autocast::OpClass;
      const OpClass c = at::autocast::op_class(op.name, type);
      const bool has_class = c != OpClass::as_is && c != OpClass::closed;
      const std::string what = std::string(op.name) + " " + list;
      ++compared;
      if (has_class && listed.count(op.name) == 0 && composed.count(what) != 0) {
        found.insert(what);
        continue;
      }
      EXPECT_EQ(has_class, listed.count(op.name) != 0) << what << " is " << at::autocast::to_string(c);
    }
  }
  EXPECT_EQ(found, composed);
  EXPECT_GT(compared, 300u);
}

// CUDA's list bans what the CPU's computes in float32, whatever the dtype (float64 included).
TEST(AutocastParity, CudasListBansBinaryCrossEntropy) {
  const auto& banned = cases().at("binary_cross_entropy");
  for (const auto& row : recorded("autocast_dtypes.tsv")) {
    if (row[0] != "binary_cross_entropy" || row[1] != "cuda") continue;
    ASSERT_EQ(row[3], "error");
    const auto got = run(banned, "f32", torch::kCUDA, dtype_of(row[2]));
    EXPECT_NE(got.find("unsafe to autocast"), std::string::npos) << got;
  }
  EXPECT_EQ(run(banned, "f32", torch::kCPU, torch::kHalf), "f32");
}

// A switch acts on tensors of its own type of device alone; the list belongs to the type.
TEST(AutocastParity, StateBelongsToATypeOfDevice) {
  using namespace at::autocast;
  EXPECT_EQ(get_op_list(torch::kCPU), torch::kCPU);
  for (const auto type : {torch::kCUDA, torch::kXLA, torch::kMPS}) EXPECT_EQ(get_op_list(type), torch::kCUDA);
  set_autocast_enabled(torch::kCUDA, true);
  set_autocast_dtype(torch::kCUDA, torch::kBFloat16);
  EXPECT_TRUE(is_autocast_enabled(torch::kCUDA));
  EXPECT_FALSE(is_autocast_enabled(torch::kCPU));
  const auto x = torch::ones({2, 2});
  EXPECT_EQ(torch::mm(x, x).scalar_type(), torch::kFloat);
  EXPECT_EQ(cached_cast(torch::kHalf, x, torch::kCUDA).scalar_type(), torch::kFloat);
  EXPECT_EQ(cached_cast(torch::kHalf, x, torch::kCPU).scalar_type(), torch::kHalf);
  EXPECT_EQ(get_autocast_dtype(torch::kCUDA), torch::kBFloat16);
  EXPECT_EQ(get_autocast_dtype(torch::kCPU), torch::kBFloat16);
  set_autocast_dtype(torch::kCUDA, torch::kHalf);
  set_autocast_enabled(torch::kCUDA, false);
}

// Every function of PyTorch's lists is declared here or named as one that Halfbridge lacks.
TEST(AutocastParity, EveryListedFunctionIsDeclared) {
  std::set<std::string> declared, lacking;
  for (const auto& op : at::autocast::ops()) declared.insert(op.name);
  for (const auto& row : recorded("autocast_lists.tsv"))
    if (!declared.count(row[0])) lacking.insert(row[0]);
  // Of these there is no function here: declare it when there is one, and take it from this list.
  const std::set<std::string> known{"_addmm_activation",
                                    "_convolution",
                                    "_cudnn_rnn",
                                    "_grid_sampler_2d_cpu_fallback",
                                    "_lu_with_info",
                                    "_native_multi_head_attention",
                                    "_scaled_dot_product_flash_attention",
                                    "_thnn_fused_gru_cell",
                                    "_thnn_fused_lstm_cell",
                                    "conv_tbc",
                                    "cudnn_convolution",
                                    "cudnn_convolution_transpose",
                                    "fake_quantize_per_tensor_affine",
                                    "fractional_max_pool2d",
                                    "fractional_max_pool3d",
                                    "grid_sampler_2d",
                                    "grid_sampler_3d",
                                    "mkldnn_rnn_layer",
                                    "multilabel_margin_loss_forward"};
  for (const auto& name : lacking)
    EXPECT_TRUE(known.count(name)) << name << " is in PyTorch's lists and declares nothing";
  for (const auto& name : known) EXPECT_TRUE(lacking.count(name)) << name << " is declared now: take it from the list";
}

}  // namespace
