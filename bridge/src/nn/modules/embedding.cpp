#include <halfbridge/bridge/nn/embedding.h>

#include <ostream>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) { EmbeddingImpl::reset(); }

void EmbeddingImpl::reset() {
  if (auto& padding = options.padding_idx()) {
    const int64_t rows = options.num_embeddings();
    HB_CHECK(*padding < rows && *padding >= -rows, "Padding_idx must be within num_embeddings");
    if (*padding < 0) padding = rows + *padding;
  }
  if (options._weight().defined()) {
    HB_CHECK(options._weight().sizes() == IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
             "Shape of _weight does not match num_embeddings and embedding_dim");
    // A clone resets a module that has its weight already: it must not take that very tensor.
    weight = register_parameter("weight", weight.defined() ? options._weight().detach() : options._weight());
  } else {
    weight = register_parameter("weight", hb::empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
  }
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  NoGradGuard no_grad;
  weight[*options.padding_idx()].fill_(0);
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << std::boolalpha << true;
  if (options.sparse()) stream << ", sparse=" << std::boolalpha << true;
  stream << ")";
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  auto look_up = [this](const Tensor& i) {
    return F::embedding(i, weight,
                        F::EmbeddingFuncOptions()
                            .padding_idx(options.padding_idx())
                            .max_norm(options.max_norm())
                            .norm_type(options.norm_type())
                            .scale_grad_by_freq(options.scale_grad_by_freq())
                            .sparse(options.sparse()));
  };
  return hooked(look_up, indices);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& o) {
  HB_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  Embedding embedding(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                          ._weight(embeddings)
                          .padding_idx(o.padding_idx())
                          .max_norm(o.max_norm())
                          .norm_type(o.norm_type())
                          .scale_grad_by_freq(o.scale_grad_by_freq())
                          .sparse(o.sparse()));
  embedding->weight.set_requires_grad(!o.freeze());
  return embedding;
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
}

void EmbeddingBagImpl::reset() {
  if (auto& padding = options.padding_idx()) {
    const int64_t rows = options.num_embeddings();
    HB_CHECK(*padding < rows && *padding >= -rows, "Padding_idx must be within num_embeddings");
    if (*padding < 0) padding = rows + *padding;
  }
  if (options._weight().defined()) {
    HB_CHECK(options._weight().sizes() == IntArrayRef({options.num_embeddings(), options.embedding_dim()}),
             "Shape of weight does not match num_embeddings and embedding_dim");
    // A clone resets a module that has its weight already: it must not take that very tensor.
    weight = register_parameter("weight", weight.defined() ? options._weight().detach() : options._weight());
  } else {
    weight = register_parameter("weight", hb::empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
  }
}

// Unlike Embedding, the row of the padding index keeps its values.
void EmbeddingBagImpl::reset_parameters() { init::normal_(weight); }

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << std::boolalpha << true;
  if (options.sparse()) stream << ", sparse=" << std::boolalpha << true;
  if (!std::holds_alternative<enumtype::kMean>(options.mode()))
    stream << ", mode=" << enumtype::get_enum_name(options.mode());
  if (options.include_last_offset()) stream << ", include_last_offset=" << std::boolalpha << true;
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  auto look_up = [this](const Tensor& i, const Tensor& o, const Tensor& w) {
    return F::embedding_bag(i, weight,
                            F::EmbeddingBagFuncOptions()
                                .offsets(o)
                                .max_norm(options.max_norm())
                                .norm_type(options.norm_type())
                                .scale_grad_by_freq(options.scale_grad_by_freq())
                                .mode(options.mode())
                                .sparse(options.sparse())
                                .per_sample_weights(w)
                                .include_last_offset(options.include_last_offset())
                                .padding_idx(options.padding_idx()));
  };
  return hooked(look_up, input, offsets, per_sample_weights);
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& o) {
  HB_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingBag bag(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(o.max_norm())
                       .norm_type(o.norm_type())
                       .scale_grad_by_freq(o.scale_grad_by_freq())
                       .mode(o.mode())
                       .sparse(o.sparse())
                       .padding_idx(o.padding_idx()));
  bag->weight.set_requires_grad(!o.freeze());
  return bag;
}

}  // namespace modules
}  // namespace hb::bridge::nn
