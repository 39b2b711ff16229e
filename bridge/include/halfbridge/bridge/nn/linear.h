#pragma once

#include <string>
#include <utility>
#include <vector>

#include <halfbridge/bridge/nn/cloneable.h>

namespace hb::bridge::nn {
inline namespace modules {

struct HB_API LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features) : in_features_(in_features), out_features_(out_features) {}
  HB_ARG(int64_t, in_features);
  HB_ARG(int64_t, out_features);
  HB_ARG(bool, bias) = true;
};
struct HB_API FlattenOptions {
  HB_ARG(int64_t, start_dim) = 1;
  HB_ARG(int64_t, end_dim) = -1;
};
struct HB_API UnflattenOptions {
  using namedshape_t = std::vector<std::pair<std::string, int64_t>>;
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  HB_ARG(int64_t, dim);
  HB_ARG(std::vector<int64_t>, sizes);
};
struct HB_API BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  HB_ARG(int64_t, in1_features);
  HB_ARG(int64_t, in2_features);
  HB_ARG(int64_t, out_features);
  HB_ARG(bool, bias) = true;
};

/// Returns its input.
class HB_API IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
HB_LIBRARY_MODULE(Identity);

/// input (…, in_features) to (…, out_features): input · weightᵀ + bias.
class HB_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  Tensor weight;  // (out_features, in_features)
  Tensor bias;    // (out_features), undefined without bias
};
HB_LIBRARY_MODULE(Linear);

/// Makes dimensions start_dim to end_dim one; all but the batch by default.
class HB_API FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  FlattenOptions options;
};
HB_LIBRARY_MODULE(Flatten);

/// Splits one dimension into several. Named dimensions are not supported.
class HB_API UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes) : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
  explicit UnflattenImpl(UnflattenOptions options_) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UnflattenOptions options;
};
HB_LIBRARY_MODULE(Unflatten);

/// input1 (…, in1), input2 (…, in2) to (…, out): x1ᵀ · weight[o] · x2 + bias.
class HB_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  Tensor weight;  // (out, in1, in2)
  Tensor bias;    // (out)
};
HB_LIBRARY_MODULE(Bilinear);

}  // namespace modules

namespace functional {
HB_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
HB_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});
}  // namespace functional

}  // namespace hb::bridge::nn
