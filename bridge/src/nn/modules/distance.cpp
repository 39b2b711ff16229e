#include <halfbridge/bridge/nn/distance.h>

#include <ostream>

namespace hb::bridge::nn {

namespace functional {
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  return hb::cosine_similarity(x1, x2, o.dim(), o.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return hb::pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}
Tensor pdist(const Tensor& input, double p) { return hb::pdist(input, p); }
}  // namespace functional

inline namespace modules {

Tensor CosineSimilarityImpl::forward(const Tensor& input1, const Tensor& input2) {
  return hooked([this](const Tensor& a, const Tensor& b) { return functional::cosine_similarity(a, b, options); },
                input1, input2);
}
void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::CosineSimilarity(dim=" << options.dim() << ", eps=" << options.eps() << ")";
}

Tensor PairwiseDistanceImpl::forward(const Tensor& input1, const Tensor& input2) {
  return hooked([this](const Tensor& a, const Tensor& b) { return functional::pairwise_distance(a, b, options); },
                input1, input2);
}
void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PairwiseDistance(p=" << options.p() << ", eps=" << options.eps() << std::boolalpha
         << ", keepdim=" << options.keepdim() << ")";
}

}  // namespace modules
}  // namespace hb::bridge::nn
