// Graph mode copies and compares calls of the types that graph/src/call_types.cpp lists: it has to know all kernels.
// And CUDA has one routine for each of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

fs::path sources() { return fs::path(HALFBRIDGE_TEST_DATA).parent_path(); }

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The kernels that headers declare and that give the host no value, with their header.
std::map<std::string, std::string> declared_kernels() {
  // One that gives a value is refused when it is recorded.
  const std::regex declaration(R"(\bKernel<\s*void\s*\([^;{]*\)\s*>\s*(\w+)\s*\{)");
  std::map<std::string, std::string> found;
  for (const char* folder : {"src/backend", "src/formulas"}) {
    for (const auto& entry : fs::recursive_directory_iterator(sources() / folder)) {
      if (entry.path().extension() != ".h" || entry.path().filename() == "kernel.h") continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at)
        found[(*at)[1]] = entry.path().filename().string();
    }
  }
  return found;
}

std::set<std::string> words_of(const std::string& text) {
  const std::regex word(R"(\w+)");
  std::set<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) words.insert(at->str());
  return words;
}

// Recordings refuse their calls: they read lists on the host, work on sparse tensors or with other processes, or the
// CPU has none.
const std::set<std::string> kNeverCaptured = {
    "ctc_kernel",          "ctc_backward_kernel",   "sparse_rows_kernel",
    "sparse_mm_kernel",    "sparse_product_kernel", "sparse_sampled_product_kernel",
    "reduce_ranks_kernel", "dropout_mask_kernel",   "rrelu_slopes_kernel",
    "dropout_kernel",      "median_kernel",         "one_hot_kernel",
    "sorted_values_kernel"};

}  // namespace

// Of two registrations the one that is linked last would win.
TEST(KernelTable, CudaHasOneRoutineForEachKernel) {
  const std::regex registration(R"(\bHB_REGISTER_CUDA\((\w+_kernel),)");
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(sources() / "src/cuda")) {
    const std::string text = text_of(entry.path()), name = entry.path().filename().string();
    for (std::sregex_iterator at(text.begin(), text.end(), registration), end; at != end; ++at)
      EXPECT_TRUE(files.emplace((*at)[1], name).second) << (*at)[1] << " in " << name << " and " << files[(*at)[1]];
  }
  EXPECT_GT(files.size(), 100u) << "too few registrations were found: does the pattern still fit them?";
}

TEST(GraphCallTypes, ListEveryKernelThatCanBeCaptured) {
  const auto kernels = declared_kernels();
  EXPECT_GT(kernels.size(), 90u) << "too few declarations were found: does the pattern still fit them?";
  const auto listed = words_of(text_of(sources() / "graph/src/call_types.cpp"));
  for (const auto& [kernel, header] : kernels)
    EXPECT_NE(listed.count(kernel), kNeverCaptured.count(kernel))
        << kernel << " of " << header
        << ": graph/src/call_types.cpp has to list each kernel whose calls can be captured"
        << " and no other";
  for (const std::string& kernel : kNeverCaptured) EXPECT_TRUE(kernels.count(kernel)) << "there is no " << kernel;
}
