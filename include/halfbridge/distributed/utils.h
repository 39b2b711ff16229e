#pragma once
// What implementations of Backend check and compute, as LibTorch's Utils.hpp has it.

#include <functional>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::distributed {

/// The first of these variables of the environment that is set, else `def`. Throws hb::Error for an empty list and for
/// values that are no number, or no truth (y, yes, 1, t, true, on; n, no, 0, f, false, off).
HB_API std::string getCvarString(const std::vector<std::string>& env, const char* def);
HB_API int getCvarInt(const std::vector<std::string>& env, int def);
HB_API bool getCvarBool(const std::vector<std::string>& env, bool def);
/// The parts of a text between separators.
HB_API std::vector<std::string> split(char separator, const std::string& string);

/// Throw std::invalid_argument unless all tensors have these sizes; the first one's sizes and dtype.
HB_API void assertSameSizes(const IntArrayRef& sizes, const std::vector<Tensor>& tensors);
HB_API void assertSameSizeAndType(const std::vector<Tensor>& tensors);

/// What a check calls with its message, and which throws.
using AssertFail = std::function<void(const std::string&)>;
HB_API void assertTypeMatch(const AssertFail& fn, const TensorOptions& options, TensorList tensors, size_t index);
HB_API void assertSizesMatch(const AssertFail& fn, const IntArrayRef& sizes, TensorList tensors, size_t index);
HB_API void assertLayoutMatch(const AssertFail& fn, const Layout& expected, TensorList tensors, size_t index);
HB_API void assertLayoutMatch(const AssertFail& fn, TensorList tensors);
HB_API void assertNonEmpty(const AssertFail& fn, TensorList tensors);
HB_API void assertSingleElement(const AssertFail& fn, TensorList tensors);
HB_API void assertSingleElementInput(const AssertFail& fn, TensorList tensors);
HB_API void assertSingleElementOutput(const AssertFail& fn, TensorList tensors);
HB_API void assertRootRank(const AssertFail& fn, int64_t rank, int64_t size);
HB_API void assertRootTensor(const AssertFail& fn, int64_t rank, int64_t size);
HB_API void assertDense(const AssertFail& fn, TensorList tensors);
HB_API void assertCPU(const AssertFail& fn, TensorList tensors);
HB_API void assertSameDevice(const AssertFail& fn, TensorList tensors);
HB_API void assertTypeAndSizesMatch(const AssertFail& fn, TensorList tensors, const TensorOptions& options,
                                    const IntArrayRef& sizes);
HB_API void assertTypeAndSizesMatch(const AssertFail& fn, TensorList tensors);

/// All values end to end.
HB_API Tensor flattenDenseTensors(TensorList tensors);
/// Room for tensors like these, one after another: (n, sizes of the first). The second keeps the first one's strides.
HB_API Tensor newLikeFlat(std::vector<Tensor>& tensors);
HB_API Tensor newLikeFlat(std::vector<std::vector<Tensor>>& tensors, size_t deviceIdx);
HB_API std::vector<std::vector<int64_t>> getSizes(const std::vector<Tensor>& tensors);
/// Indices of GPUs; -1 for tensors on the host.
HB_API std::vector<int> getDevices(const std::vector<Tensor>& tensors);
/// Throws hb::Error unless the rows of `tensor` can be split so among the ranks.
HB_API void checkSplitSizes(const std::vector<int64_t>& split_sizes, const Tensor& tensor, int group_size);

template <class T>
T* getDataPointer(const Tensor& tensor) {
  return static_cast<T*>(tensor.data_ptr());
}
template <class T>
std::vector<T*> getDataPointers(const std::vector<Tensor>& tensors) {
  std::vector<T*> pointers;
  for (const Tensor& t : tensors) pointers.push_back(getDataPointer<T>(t));
  return pointers;
}

/// The numbers of elements of each rank's rows (of each tensor), and where they begin; returns how many there are.
template <class T>
size_t computeLengthsAndOffsets(const std::vector<int64_t>& split_sizes, const Tensor& tensor, std::vector<T>* lengths,
                                std::vector<T>* offsets) {
  const int64_t rows = tensor.size(0), row = rows ? tensor.numel() / rows : 1;
  int64_t offset = 0;
  for (size_t i = 0; i < lengths->size(); ++i) {
    const int64_t own = split_sizes.empty() ? rows / static_cast<int64_t>(lengths->size()) : split_sizes[i];
    (*lengths)[i] = static_cast<T>(own * row), (*offsets)[i] = static_cast<T>(offset);
    offset += own * row;
  }
  return static_cast<size_t>(offset);
}
template <class T>
size_t computeLengthsAndOffsets(const std::vector<Tensor>& tensors, std::vector<T>* lengths, std::vector<T>* offsets) {
  int64_t offset = 0;
  for (size_t i = 0; i < lengths->size(); ++i) {
    (*lengths)[i] = static_cast<T>(tensors[i].numel()), (*offsets)[i] = static_cast<T>(offset);
    offset += tensors[i].numel();
  }
  return static_cast<size_t>(offset);
}

/// Where the ranks begin and how far apart they are; -1 where they are not equally far apart.
HB_API void getGlobalRankStartAndStride(const std::vector<uint64_t>& globalRanksInGroup, int& globalRankStart,
                                        int& globalRankStride);

}  // namespace hb::distributed
