#include <halfbridge/bridge/nn/embedding.h>

#include <ostream>

#include <halfbridge/bridge/nn/init.h>

namespace hb::bridge::nn {
inline namespace modules {

namespace F = functional;

namespace {

// The weight of Embedding or EmbeddingBag: the one of the options, or a new one.
template <class Module>
void make_table(Module& m) {
  auto& o = m.options;
  if (auto& padding = o.padding_idx()) {
    const int64_t rows = o.num_embeddings();
    HB_CHECK(*padding < rows && *padding >= -rows, "Padding_idx must be within num_embeddings");
    if (*padding < 0) padding = rows + *padding;
  }
  if (!o._weight().defined()) {
    m.weight = m.register_parameter("weight", hb::empty({o.num_embeddings(), o.embedding_dim()}));
    return m.reset_parameters();
  }
  // LibTorch names the weight differently for the two.
  constexpr const char* kOfWeight = std::is_same_v<Module, EmbeddingImpl> ? "Shape of _weight" : "Shape of weight";
  HB_CHECK(o._weight().sizes() == IntArrayRef({o.num_embeddings(), o.embedding_dim()}), kOfWeight,
           " does not match num_embeddings and embedding_dim, got ", o._weight().sizes());
  // A clone resets a module that has its weight already: it must not take that very tensor.
  m.weight = m.register_parameter("weight", m.weight.defined() ? o._weight().detach() : o._weight());
}

// What Embedding and EmbeddingBag print of the rows' norms and gradients.
template <class Options>
void print_common(std::ostream& stream, const Options& o) {
  if (o.max_norm()) stream << ", max_norm=" << *o.max_norm();
  if (o.norm_type() != 2) stream << ", norm_type=" << o.norm_type();
  if (o.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << std::boolalpha << true;
  if (o.sparse()) stream << ", sparse=" << std::boolalpha << true;
}

// The options that a table that is given shares with a new one.
template <class Options, class FromPretrained>
Options options_for(const Tensor& embeddings, const FromPretrained& o) {
  HB_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  return Options(embeddings.size(0), embeddings.size(1))
      ._weight(embeddings)
      .padding_idx(o.padding_idx())
      .max_norm(o.max_norm())
      .norm_type(o.norm_type())
      .scale_grad_by_freq(o.scale_grad_by_freq())
      .sparse(o.sparse());
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) { EmbeddingImpl::reset(); }

void EmbeddingImpl::reset() { make_table(*this); }

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
  print_common(stream, options);
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
  Embedding embedding(options_for<EmbeddingOptions>(embeddings, o));
  embedding->weight.set_requires_grad(!o.freeze());
  return embedding;
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
}

void EmbeddingBagImpl::reset() { make_table(*this); }

// Unlike Embedding, the row of the padding index keeps its values.
void EmbeddingBagImpl::reset_parameters() { init::normal_(weight); }

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  print_common(stream, options);
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
  EmbeddingBag bag(options_for<EmbeddingBagOptions>(embeddings, o).mode(o.mode()));
  bag->weight.set_requires_grad(!o.freeze());
  return bag;
}

}  // namespace modules
}  // namespace hb::bridge::nn
