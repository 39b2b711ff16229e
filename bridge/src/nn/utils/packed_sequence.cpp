#include <algorithm>

#include <halfbridge/bridge/nn/utils.h>

namespace hb::bridge::nn::utils::rnn {

Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return Tensor();
  Tensor inverse = hb::empty(permutation.sizes(), permutation.options());
  return inverse.scatter_(0, permutation, hb::arange(permutation.numel(), permutation.options()));
}

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  if (!unsorted_indices_.defined()) unsorted_indices_ = invert_permutation(sorted_indices_);
  HB_CHECK(batch_sizes_.device().is_cpu(),
           "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
           "created manually. They should be instantiated by functions like pack_sequence and pack_padded_sequences");
}

PackedSequence PackedSequence::pin_memory() const {
  auto pin = [](const Tensor& t) { return t.defined() ? t.pin_memory() : t; };
  return PackedSequence(pin(data_), batch_sizes_, pin(sorted_indices_), pin(unsorted_indices_));
}

PackedSequence PackedSequence::to(TensorOptions options) const {
  Tensor data = data_.to(options);
  auto move = [&](const Tensor& t) { return t.defined() ? t.to(data.device()) : t; };
  return PackedSequence(data, batch_sizes_, move(sorted_indices_), move(unsorted_indices_));
}

namespace {

// lengths, longest first: how many sequences have a step t.
std::vector<int64_t> sequences_per_step(const int64_t* lengths, int64_t batch) {
  std::vector<int64_t> count;
  int64_t alive = batch;
  for (int64_t t = 0; t < lengths[0]; ++t) {
    while (lengths[alive - 1] <= t) --alive;
    count.push_back(alive);
  }
  return count;
}

}  // namespace

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first, bool enforce_sorted) {
  lengths = lengths.to(kLong).cpu().contiguous();
  Tensor sorted_indices;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = hb::sort(lengths, -1, /*descending=*/true);
    sorted_indices = sorted_indices.to(input.device());
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
    lengths = lengths.contiguous();
  }
  if (batch_first) input = input.transpose(0, 1);
  const int64_t batch = lengths.numel();
  const int64_t* length = lengths.data_ptr<int64_t>();
  HB_CHECK(lengths.dim() == 1, "'lengths' argument should be a 1D CPU int64 tensor, but got ", lengths.dim(), "D ",
           lengths.device(), " ", lengths.scalar_type(), " tensor");
  HB_CHECK(input.numel() > 0, "Cannot pack empty tensors.");
  HB_CHECK(batch == input.size(1), "Expected `len(lengths)` to be equal to batch_size, but got ", batch,
           " (batch_size=", input.size(1), ")");
  HB_CHECK(batch > 0 && std::is_sorted(length, length + batch, std::greater<>()),
           "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
           "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement "
           "if you do not need ONNX exportability.");
  HB_CHECK(length[batch - 1] > 0,
           "Length of all samples has to be greater than 0, but found an element in 'lengths' that "
           "is <= 0");
  HB_CHECK(length[0] <= input.size(0), "Expected lengths up to ", input.size(0), ", got ", length[0]);
  const auto count = sequences_per_step(length, batch);
  std::vector<Tensor> steps;
  // Steps of the same number of sequences lie side by side in the result: copied together.
  for (size_t t = 0; t < count.size();) {
    size_t end = t;
    while (end < count.size() && count[end] == count[t]) ++end;
    Tensor block = input.slice(0, static_cast<int64_t>(t), static_cast<int64_t>(end)).slice(1, 0, count[t]);
    steps.push_back(block.flatten(0, 1));
    t = end;
  }
  return PackedSequence(hb::cat(steps), hb::tensor(count, TensorOptions(kLong).device(kCPU)), sorted_indices);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<int64_t> total_length) {
  Tensor sizes = sequence.batch_sizes().contiguous();
  const int64_t* count = sizes.data_ptr<int64_t>();
  const int64_t steps = sizes.numel();
  const int64_t total = total_length.value_or(steps);
  HB_CHECK(total >= steps,
           "Expected total_length to be at least the length of the longest sequence in input, but got "
           "total_length=",
           total, " and max sequence length being ", steps);
  const int64_t batch = steps ? count[0] : 0;
  std::vector<Tensor> padded;
  int64_t at = 0;
  for (int64_t t = 0; t < steps; ++t) {
    Tensor step = sequence.data().narrow(0, at, count[t]);
    at += count[t];
    auto missing = step.sizes().vec();
    missing[0] = batch - count[t];
    padded.push_back(missing[0] ? hb::cat({step, hb::full(missing, padding_value, step.options())}) : step);
  }
  Tensor result = hb::stack(padded);  // (T, B, …)
  if (total > steps) {
    auto missing = result.sizes().vec();
    missing[0] = total - steps;
    result = hb::cat({result, hb::full(missing, padding_value, result.options())});
  }
  std::vector<int64_t> lengths(batch);
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t b = 0; b < count[t]; ++b) lengths[b] = t + 1;
  Tensor length = hb::tensor(lengths, TensorOptions(kLong).device(kCPU));
  if (batch_first) result = result.transpose(0, 1);
  const Tensor& unsorted = sequence.unsorted_indices();
  if (!unsorted.defined()) return {result, length};
  return {result.index_select(batch_first ? 0 : 1, unsorted), length.index_select(0, unsorted.cpu())};
}

Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first, double padding_value, std::string_view padding_side) {
  HB_CHECK(!sequences.empty(), "received an empty list of sequences");
  HB_CHECK(padding_side == "left" || padding_side == "right",
           "Expected padding_side to be one of left or right, but got ", padding_side, ".");
  int64_t longest = 0;
  for (const Tensor& s : sequences) longest = std::max(longest, s.size(0));
  std::vector<Tensor> padded;
  for (const Tensor& s : sequences) {
    auto missing = s.sizes().vec();
    missing[0] = longest - s.size(0);
    if (!missing[0]) {
      padded.push_back(s);
      continue;
    }
    Tensor filler = hb::full(missing, padding_value, s.options());
    padded.push_back(padding_side == "right" ? hb::cat({s, filler}) : hb::cat({filler, s}));
  }
  return hb::stack(padded, batch_first ? 0 : 1);
}

PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted) {
  std::vector<int64_t> lengths;
  for (const Tensor& s : sequences) lengths.push_back(s.size(0));
  return pack_padded_sequence(pad_sequence(sequences), hb::tensor(lengths, kLong), false, enforce_sorted);
}

}  // namespace hb::bridge::nn::utils::rnn
