#include <halfbridge/distributed/utils.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include <halfbridge/error.h>
#include <halfbridge/ops.h>

namespace hb::distributed {

namespace {

const char* first_of(const std::vector<std::string>& env) {
  HB_CHECK(!env.empty(), "[getCvar] expected names of variables of the environment, got none");
  for (const std::string& name : env)
    if (const char* value = std::getenv(name.c_str())) return value;
  return nullptr;
}

std::string listed_options(const TensorOptions& options) {
  return detail::str(options.dtype().toScalarType(), " on ", options.device());
}

bool same_type(const TensorOptions& a, const TensorOptions& b) {
  return a.dtype().toScalarType() == b.dtype().toScalarType() && a.device().type() == b.device().type() &&
         a.layout() == b.layout();
}

std::string mismatch(const char* what, size_t index, const std::string& expected, const std::string& got) {
  return detail::str("invalid tensor ", what, " at index ", index, " (expected ", expected, ", got ", got, ")");
}

void check_one(const AssertFail& fn, TensorList tensors, const char* list) {
  if (tensors.size() != 1) fn(detail::str("requires a single-element ", list, " list"));
}

}  // namespace

std::string getCvarString(const std::vector<std::string>& env, const char* def) {
  const char* value = first_of(env);
  return value ? value : def;
}

int getCvarInt(const std::vector<std::string>& env, int def) {
  const char* value = first_of(env);
  if (!value) return def;
  try {
    return std::stoi(value);
  } catch (const std::exception&) {
    detail::fail<Error>("[getCvarInt] expected a number in the variable ", env[0], ", got '", value, "'");
  }
}

bool getCvarBool(const std::vector<std::string>& env, bool def) {
  const char* value = first_of(env);
  if (!value) return def;
  std::string text = value;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"y", "yes", "1", "t", "true", "on"})
    if (text == yes) return true;
  for (const char* no : {"n", "no", "0", "f", "false", "off"})
    if (text == no) return false;
  detail::fail<Error>("[getCvarBool] expected yes or no in the variable ", env[0], ", got '", value, "'");
}

std::vector<std::string> split(char separator, const std::string& string) {
  std::vector<std::string> parts;
  std::istringstream stream(string);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

void assertSameSizes(const IntArrayRef& sizes, const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors)
    if (t.sizes() != sizes) throw std::invalid_argument(detail::str("mixed sizes (", sizes, " and ", t.sizes(), ")"));
}

void assertSameSizeAndType(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw std::invalid_argument("argument is empty");
  for (const Tensor& t : tensors) {
    const Tensor& first = tensors[0];
    if (!same_type(t.options(), first.options()))
      throw std::invalid_argument(detail::str("argument contains mixed types (", listed_options(first.options()),
                                              " and ", listed_options(t.options()), ")"));
    if (t.sizes() != first.sizes())
      throw std::invalid_argument(
          detail::str("argument contains mixed types (", first.sizes(), " and ", t.sizes(), ")"));
  }
}

void assertTypeMatch(const AssertFail& fn, const TensorOptions& options, TensorList tensors, size_t index) {
  const TensorOptions got = tensors[index].options();
  if (!same_type(got, options)) fn(mismatch("type", index, listed_options(options), listed_options(got)));
}

void assertSizesMatch(const AssertFail& fn, const IntArrayRef& sizes, TensorList tensors, size_t index) {
  const IntArrayRef got = tensors[index].sizes();
  if (got != sizes) fn(mismatch("size", index, detail::str(sizes), detail::str(got)));
}

void assertLayoutMatch(const AssertFail& fn, const Layout& expected, TensorList tensors, size_t index) {
  const auto name = [](Layout layout) { return layout == kStrided ? "Strided" : "Sparse"; };
  const Layout got = tensors[index].layout();
  if (got != expected) fn(mismatch("layout", index, name(expected), name(got)));
}

void assertLayoutMatch(const AssertFail& fn, TensorList tensors) {
  for (size_t i = 1; i < tensors.size(); ++i) assertLayoutMatch(fn, tensors[0].layout(), tensors, i);
}

void assertNonEmpty(const AssertFail& fn, TensorList tensors) {
  if (tensors.empty()) fn("requires non-empty tensor list");
}

void assertSingleElement(const AssertFail& fn, TensorList tensors) { check_one(fn, tensors, "tensor"); }
void assertSingleElementInput(const AssertFail& fn, TensorList tensors) { check_one(fn, tensors, "input tensor"); }
void assertSingleElementOutput(const AssertFail& fn, TensorList tensors) { check_one(fn, tensors, "output tensor"); }

void assertRootRank(const AssertFail& fn, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) fn(detail::str("invalid root rank: ", rank));
}

void assertRootTensor(const AssertFail& fn, int64_t rank, int64_t size) {
  if (rank < 0 || rank >= size) fn(detail::str("invalid root tensor: ", rank));
}

void assertDense(const AssertFail& fn, TensorList tensors) {
  if (tensors[0].layout() != kStrided) fn("only supports dense tensors");
}

void assertCPU(const AssertFail& fn, TensorList tensors) {
  if (tensors[0].device().type() != kCPU) fn("only supports CPU tensors");
}

void assertSameDevice(const AssertFail& fn, TensorList tensors) {
  for (const Tensor& t : tensors)
    if (t.device() != tensors[0].device()) fn("tensors should be on the same device");
}

void assertTypeAndSizesMatch(const AssertFail& fn, TensorList tensors, const TensorOptions& options,
                             const IntArrayRef& sizes) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    assertTypeMatch(fn, options, tensors, i);
    assertSizesMatch(fn, sizes, tensors, i);
  }
}

void assertTypeAndSizesMatch(const AssertFail& fn, TensorList tensors) {
  assertTypeAndSizesMatch(fn, tensors.slice(1), tensors[0].options(), tensors[0].sizes());
}

Tensor flattenDenseTensors(TensorList tensors) {
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) parts.push_back(t.contiguous().view({-1}));
  return parts.size() == 1 ? parts[0] : cat(parts);
}

Tensor newLikeFlat(std::vector<Tensor>& tensors) {
  HB_CHECK(!tensors.empty(), "[newLikeFlat] expected tensors, got an empty list");
  std::vector<int64_t> sizes{static_cast<int64_t>(tensors.size())};
  sizes.insert(sizes.end(), tensors[0].sizes().begin(), tensors[0].sizes().end());
  return empty(sizes, tensors[0].options());
}

Tensor newLikeFlat(std::vector<std::vector<Tensor>>& tensors, size_t deviceIdx) {
  HB_CHECK(!tensors.empty() && !tensors[0].empty(), "[newLikeFlat] expected tensors, got an empty list");
  HB_CHECK(deviceIdx < tensors.size(), "[newLikeFlat] expected the index of one of ", tensors.size(), " lists, got ",
           deviceIdx);
  const std::vector<Tensor>& list = tensors[deviceIdx];
  assertSameDevice([](const std::string& text) { throw Error("[newLikeFlat] " + text); }, list);
  std::vector<int64_t> sizes{static_cast<int64_t>(list.size())}, strides{list[0].numel()};
  sizes.insert(sizes.end(), list[0].sizes().begin(), list[0].sizes().end());
  strides.insert(strides.end(), list[0].strides().begin(), list[0].strides().end());
  return empty_strided(sizes, strides, list[0].options());
}

std::vector<std::vector<int64_t>> getSizes(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<int64_t>> sizes;
  for (const Tensor& t : tensors) sizes.push_back(t.sizes().vec());
  return sizes;
}

std::vector<int> getDevices(const std::vector<Tensor>& tensors) {
  std::vector<int> devices;
  for (const Tensor& t : tensors) devices.push_back(t.is_cuda() ? t.device().index() : -1);
  return devices;
}

void checkSplitSizes(const std::vector<int64_t>& split_sizes, const Tensor& tensor, int group_size) {
  if (split_sizes.empty()) {
    HB_CHECK(tensor.size(0) % group_size == 0,
             "[alltoall] Tensor's dim 0 does not divide equally across group size: ", tensor.size(0), " rows and ",
             group_size, " ranks");
    return;
  }
  HB_CHECK(split_sizes.size() == static_cast<size_t>(group_size),
           "[alltoall] Number of tensor splits not equal to group size: ", split_sizes.size(), " and ", group_size);
  const int64_t sum = std::accumulate(split_sizes.begin(), split_sizes.end(), int64_t{0});
  HB_CHECK(sum == tensor.size(0), "[alltoall] Split sizes doesn't match total dim 0 size: ", sum, " and ",
           tensor.size(0));
}

void getGlobalRankStartAndStride(const std::vector<uint64_t>& globalRanksInGroup, int& globalRankStart,
                                 int& globalRankStride) {
  const auto& ranks = globalRanksInGroup;
  globalRankStart = ranks.empty() ? 0 : static_cast<int>(ranks[0]);
  globalRankStride = ranks.size() < 2 ? 1 : static_cast<int>(ranks[1] - ranks[0]);
  for (size_t i = 2; i < ranks.size(); ++i)
    if (static_cast<int>(ranks[i] - ranks[i - 1]) != globalRankStride) globalRankStride = -1;
}

}  // namespace hb::distributed
