#include <halfbridge/bridge/nn/fractional_pool.h>

#include <ostream>
#include <vector>

#include <halfbridge/ops.h>

namespace hb::bridge {

namespace {

// Where the windows along one dimension start. The last one ends with the input; T is the dtype that LibTorch computes
// in.
template <class T>
void starts(int64_t* out, T sample, int64_t in, int64_t n, int64_t kernel) {
  if (n > 1) {
    const T step = static_cast<T>(in - kernel) / static_cast<T>(n - 1);
    for (int64_t i = 0; i < n - 1; ++i)
      out[i] = static_cast<int>((static_cast<T>(i) + sample) * step) - static_cast<int>(sample * step);
  }
  if (n > 0) out[n - 1] = in - kernel;
}

// (planes, n), from samples (planes)
template <class T>
Tensor all_starts(const Tensor& samples, int64_t in, int64_t n, int64_t kernel) {
  const Tensor given = samples.cpu().contiguous();
  Tensor out = empty({samples.size(0), n}, given.options().dtype(kLong));
  for (int64_t p = 0; p < samples.size(0); ++p)
    starts<T>(out.data_ptr<int64_t>() + p * n, given.template data_ptr<T>()[p], in, n, kernel);
  return out.to(samples.device());
}
Tensor all_starts_of(const Tensor& samples, int64_t in, int64_t n, int64_t kernel) {
  switch (samples.scalar_type()) {
    case kDouble:
      return all_starts<double>(samples, in, n, kernel);
    case kHalf:
      return all_starts<Half>(samples, in, n, kernel);
    case kBFloat16:
      return all_starts<BFloat16>(samples, in, n, kernel);
    default:
      return all_starts<float>(samples, in, n, kernel);
  }
}

std::tuple<Tensor, Tensor> fractional_max_pool(const char* name, int64_t dims, const Tensor& self, IntArrayRef kernel,
                                               IntArrayRef output, const Tensor& samples) {
  HB_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", name, "] expected an input (N, C, …) or (C, …) with ",
           dims, " spatial dimensions, got ", self.sizes());
  HB_CHECK(static_cast<int64_t>(kernel.size()) == dims && static_cast<int64_t>(output.size()) == dims, "[", name,
           "] expected ", dims, " sizes of the kernel and of the output, got ", kernel, " and ", output);
  HB_CHECK(self.is_floating_point() && samples.scalar_type() == self.scalar_type(), "[", name,
           "] expected floating-point input and samples of one dtype, got ", self.scalar_type(), " and ",
           samples.scalar_type());
  const Tensor input = self.dim() == dims + 1 ? self.unsqueeze(0) : self;
  const int64_t planes = input.size(0) * input.size(1);
  HB_CHECK(samples.dim() == 3 && samples.size(0) * samples.size(1) == planes && samples.size(2) == dims, "[", name,
           "] expected samples of size ", IntArrayRef({input.size(0), input.size(1), dims}), ", got ", samples.sizes());
  const TensorOptions integers = samples.options().dtype(kLong);
  Tensor index = zeros({1}, integers);  // (planes, out, window): dimensions are added one by one
  DimVector sizes(input.sizes().slice(0, 2));
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t in = input.size(2 + d);
    HB_CHECK(output[d] > 0 && kernel[d] > 0, "[", name, "] expected a kernel and an output above 0, got ", kernel,
             " and ", output);
    constexpr const char* kNames[] = {"time", "height", "width"};
    HB_CHECK(output[d] + kernel[d] - 1 <= in, "[", name, "] pool ", kNames[3 - dims + d], " ", kernel[d],
             " too large relative to input ", kNames[3 - dims + d], " ", in);
    // The samples of 2 dimensions name the width first.
    const Tensor sample = samples.reshape({planes, dims}).select(1, dims == 2 ? 1 - d : d);
    const Tensor line = all_starts_of(sample, in, output[d], kernel[d]).unsqueeze(-1) + arange(kernel[d], integers);
    index = d ? (index * in).unsqueeze(2).unsqueeze(4) + line.unsqueeze(1).unsqueeze(3) : line;
    if (d) index = index.flatten(1, 2).flatten(2, 3);
    sizes.push_back(output[d]);
  }
  const Tensor windows = input.reshape({planes, -1}).gather(1, index.flatten(1)).view(index.sizes());
  const auto [values, at] = windows.max(2);
  if (self.dim() == dims + 1) sizes = DimVector(IntArrayRef(sizes).slice(1));
  return {values.reshape(sizes), index.gather(2, at.unsqueeze(2)).reshape(sizes)};
}

template <size_t D>
std::tuple<Tensor, Tensor> pool_with_options(const char* name, const Tensor& input,
                                             const nn::FractionalMaxPoolOptions<D>& o, const Tensor& given) {
  constexpr auto dims = static_cast<int64_t>(D);
  HB_CHECK(o.output_size() || o.output_ratio(), name, " requires specifying either an output_size or an output_ratio");
  HB_CHECK(input.dim() > dims, "[", name, "] expected an input of at least ", dims + 1, " dimensions, got ",
           input.sizes());
  std::vector<int64_t> size;
  for (int64_t d = 0; d < dims; ++d)
    size.push_back(o.output_size()
                       ? (**o.output_size())[d]
                       : static_cast<int64_t>(static_cast<double>(input.size(d - dims)) * (**o.output_ratio())[d]));
  const Tensor samples = given.defined()
                             ? given
                             : rand({input.dim() == dims + 1 ? 1 : input.size(0), input.size(-dims - 1), dims},
                                    TensorOptions(input.scalar_type()).device(input.device()));
  return fractional_max_pool(name, dims, input, IntArrayRef((*o.kernel_size()).data(), D), size, samples);
}

}  // namespace

inline namespace api {
std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return fractional_max_pool("fractional_max_pool2d", 2, self, kernel_size, output_size, random_samples);
}
std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef output_size,
                                                 const Tensor& random_samples) {
  return fractional_max_pool("fractional_max_pool3d", 3, self, kernel_size, output_size, random_samples);
}
}  // namespace api

namespace nn {

#define HB_FRACTIONAL_POOL(D)                                                                                      \
  namespace functional {                                                                                           \
  std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices(const Tensor& input,                           \
                                                                    const FractionalMaxPool##D##dFuncOptions& o) { \
    return pool_with_options("fractional_max_pool" #D "d", input, o, o._random_samples());                         \
  }                                                                                                                \
  Tensor fractional_max_pool##D##d(const Tensor& input, const FractionalMaxPool##D##dFuncOptions& o) {             \
    return std::get<0>(fractional_max_pool##D##d_with_indices(input, o));                                          \
  }                                                                                                                \
  }                                                                                                                \
  inline namespace modules {                                                                                       \
  void FractionalMaxPool##D##dImpl::reset() {                                                                      \
    _random_samples = register_buffer("_random_samples", options._random_samples());                               \
    HB_CHECK(options.output_size() || options.output_ratio(),                                                      \
             "FractionalMaxPool" #D "d requires specifying either an output size, or a pooling ratio");            \
    HB_CHECK(!options.output_size() || !options.output_ratio(),                                                    \
             "only one of output_size and output_ratio may be specified");                                         \
    if (options.output_ratio())                                                                                    \
      for (double ratio : **options.output_ratio())                                                                \
        HB_CHECK(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1 (got ",                             \
                 ArrayRef<double>(**options.output_ratio()), ")");                                                 \
  }                                                                                                                \
  std::tuple<Tensor, Tensor> FractionalMaxPool##D##dImpl::forward_with_indices(const Tensor& input) {              \
    return pool_with_options("fractional_max_pool" #D "d", input, options, _random_samples);                       \
  }                                                                                                                \
  Tensor FractionalMaxPool##D##dImpl::forward(const Tensor& input) {                                               \
    return hooked([this](const Tensor& x) { return std::get<0>(forward_with_indices(x)); }, input);                \
  }                                                                                                                \
  void FractionalMaxPool##D##dImpl::pretty_print(std::ostream& stream) const {                                     \
    stream << "torch::nn::FractionalMaxPool" #D "d()";                                                             \
  }                                                                                                                \
  }
HB_FRACTIONAL_POOL(2)
HB_FRACTIONAL_POOL(3)
#undef HB_FRACTIONAL_POOL

}  // namespace nn
}  // namespace hb::bridge
