#include "op_types.h"

#include <cctype>
#include <set>
#include <unordered_map>
#include <vector>

namespace hb::layer_diff {
namespace {

struct Family {
  const char* canonical;
  std::vector<const char*> names;  // besides the canonical one
};

// Modules, functions and operators as they are called, in lower case and without underscores.
const std::vector<Family>& families() {
  static const std::vector<Family> table = {
      {"conv",
       {"conv1d", "conv2d", "conv3d", "convolution", "convolutionoverrideable", "mkldnnconvolution", "cudnnconvolution",
        "thnnconv2d", "slowconv3d", "convdepthwise2d", "slowconv2dforward", "lazyconv2d"}},
      {"conv_transpose", {"convtranspose1d", "convtranspose2d", "convtranspose3d", "slowconvtranspose2d"}},
      {"linear", {"addmm", "mkllinear", "mkldnnlinear", "nondynamicallyquantizablelinear", "lazylinear"}},
      {"bilinear", {}},
      {"matmul", {"mm", "bmm", "mv", "dot"}},
      {"baddbmm", {"addbmm"}},
      {"batch_norm",
       {"batchnorm1d", "batchnorm2d", "batchnorm3d", "nativebatchnorm", "cudnnbatchnorm", "batchnormimplindex",
        "nativebatchnormlegit", "nativebatchnormlegitnotraining", "batchnormwithupdate", "syncbatchnorm"}},
      {"instance_norm", {"instancenorm1d", "instancenorm2d", "instancenorm3d"}},
      {"layer_norm", {"nativelayernorm"}},
      {"group_norm", {"nativegroupnorm"}},
      {"rms_norm", {"fusedrmsnorm"}},
      {"local_response_norm", {"crossmaplrn2d"}},
      {"relu", {"clampmin", "threshold"}},
      {"relu6", {}},
      {"leaky_relu", {}},
      {"prelu", {"prelukernel"}},
      {"rrelu", {"rreluwithnoise"}},
      {"elu", {}},
      {"celu", {}},
      {"selu", {}},
      {"gelu", {}},
      {"silu", {"swish"}},
      {"mish", {}},
      {"sigmoid", {}},
      {"log_sigmoid", {"logsigmoidforward"}},
      {"hardsigmoid", {}},
      {"hardswish", {}},
      {"hardtanh", {"clamp"}},
      {"hardshrink", {}},
      {"softshrink", {}},
      {"tanhshrink", {}},
      {"tanh", {}},
      {"softplus", {}},
      {"softsign", {}},
      {"glu", {}},
      {"softmax", {"softmax2d"}},
      {"log_softmax", {}},
      {"softmin", {}},
      {"max_pool",
       {"maxpool1d", "maxpool2d", "maxpool3d", "maxpool2dwithindices", "maxpool3dwithindices", "mkldnnmaxpool2d",
        "maxpool1dwithindices"}},
      {"max_unpool", {"maxunpool1d", "maxunpool2d", "maxunpool3d"}},
      {"avg_pool", {"avgpool1d", "avgpool2d", "avgpool3d"}},
      {"lp_pool", {"lppool1d", "lppool2d"}},
      {"fractional_max_pool", {"fractionalmaxpool2d", "fractionalmaxpool3d"}},
      {"adaptive_avg_pool", {"adaptiveavgpool1d", "adaptiveavgpool2d", "adaptiveavgpool3d"}},
      {"adaptive_max_pool", {"adaptivemaxpool1d", "adaptivemaxpool2d", "adaptivemaxpool3d"}},
      {"dropout",
       {"dropout1d", "dropout2d", "dropout3d", "nativedropout", "featuredropout", "alphadropout",
        "featurealphadropout"}},
      {"embedding", {}},
      {"embedding_bag", {}},
      {"lstm", {}},
      {"gru", {}},
      {"rnn", {"rnntanh", "rnnrelu"}},
      {"lstm_cell", {"thnnfusedlstmcell"}},
      {"gru_cell", {"thnnfusedgrucell"}},
      {"rnn_cell", {"rnntanhcell", "rnnrelucell"}},
      {"attention",
       {"scaleddotproductattention", "scaleddotproductattentionmath", "scaleddotproductflashattention",
        "scaleddotproductflashattentionforcpu"}},
      {"flatten", {"unflatten", "view", "reshape", "unsafeview"}},
      {"identity", {"alias", "contiguous", "clone", "detach", "to", "copy"}},
      {"pad",
       {"constantpadnd", "constantpad1d", "constantpad2d", "constantpad3d", "zeropad1d", "zeropad2d", "zeropad3d",
        "reflectionpad1d", "reflectionpad2d", "reflectionpad3d", "replicationpad1d", "replicationpad2d",
        "replicationpad3d"}},
      {"upsample",
       {"interpolate", "upsamplenearest2d", "upsamplebilinear2d", "upsamplenearest1d", "upsamplelinear1d",
        "upsamplebicubic2d"}},
      {"pixel_shuffle", {}},
      {"pixel_unshuffle", {}},
      {"fold", {"col2im"}},
      {"unfold", {"im2col"}},
      {"cross_entropy_loss", {"crossentropyloss", "crossentropy"}},
      {"nll_loss", {"nllloss2d", "nlllossnd", "nlllossforward"}},
      {"mse_loss", {}},
      {"l1_loss", {}},
      {"smooth_l1_loss", {}},
      {"huber_loss", {}},
      {"bce_loss", {"binarycrossentropy"}},
      {"bce_with_logits_loss", {"binarycrossentropywithlogits"}},
      {"kl_div", {"kldivloss"}},
      {"ctc_loss", {}},
      {"hinge_embedding_loss", {}},
      {"cosine_embedding_loss", {}},
      {"margin_ranking_loss", {}},
      {"triplet_margin_loss", {}},
      {"poisson_nll_loss", {}},
      {"gaussian_nll_loss", {}},
      {"soft_margin_loss", {}},
      {"multi_margin_loss", {}},
      {"multilabel_margin_loss", {}},
      {"cosine_similarity", {}},
      {"pairwise_distance", {}},
      // Plain arithmetic, parts of others.
      {"add", {}},
      {"sub", {"rsub"}},
      {"mul", {}},
      {"div", {}},
      {"pow", {"square"}},
      {"exp", {}},
      {"log", {}},
      {"sqrt", {}},
      {"rsqrt", {}},
      {"mean", {}},
      {"sum", {}},
      {"var", {"varmean"}},
      {"transpose", {"t", "permute", "swapaxes"}},
      {"squeeze", {"unsqueeze"}},
      {"cat", {"concat", "concatenate"}},
      {"stack", {}},
      {"chunk", {"split"}},
      {"slice", {"select", "narrow", "index", "indexselect", "gather"}},
      {"expand", {"repeat", "broadcastto"}},
      {"masked_fill", {}},
      {"where", {}},
  };
  return table;
}

struct Composition {
  const char* one;
  std::set<std::string> parts;  // what it may be written with
  const char* needed;           // one of the parts, or one more that must be there
};
// What is recorded on the way beside the work itself.
const std::set<std::string> kViews = {"transpose", "flatten", "identity", "squeeze", "expand", "slice", "chunk"};
const std::vector<Composition>& compositions() {
  static const std::vector<Composition> table = {
      {"linear", {"matmul", "add", "linear"}, "matmul"},
      {"baddbmm", {"matmul", "add", "mul"}, "matmul"},
      {"cross_entropy_loss", {"log_softmax", "nll_loss", "softmax", "log", "mean", "sum", "mul"}, "log_softmax"},
      {"bce_with_logits_loss", {"sigmoid", "bce_loss", "mean"}, "sigmoid"},
      {"log_softmax", {"softmax", "log"}, "softmax"},
      {"mse_loss", {"sub", "pow", "mul", "mean", "sum"}, "sub"},
      {"silu", {"sigmoid", "mul"}, "sigmoid"},
      {"attention",
       {"matmul", "mul", "div", "softmax", "dropout", "add", "masked_fill", "where", "baddbmm"},
       "softmax"},
      {"layer_norm", {"mean", "sub", "pow", "mul", "add", "sqrt", "rsqrt", "div", "var"}, "mean"},
      {"batch_norm", {"mean", "sub", "pow", "mul", "add", "sqrt", "rsqrt", "div", "var"}, "mul"},
      {"rms_norm", {"mean", "pow", "mul", "add", "sqrt", "rsqrt", "div"}, "mean"},
      {"conv", {"unfold", "matmul", "add", "fold"}, "matmul"},
      {"pad", {"pad", "cat"}, "pad"},
  };
  return table;
}

std::string folded(const std::string& type) {
  const size_t colons = type.rfind("::");
  std::string name;
  for (char c : colons == std::string::npos ? type : type.substr(colons + 2)) {
    if (c == '.') break;  // an overload
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::string impl = "impl";
  if (name.size() > impl.size() && name.compare(name.size() - impl.size(), impl.size(), impl) == 0) {
    name.erase(name.size() - impl.size());
  }
  return name;
}

std::unordered_map<std::string, std::string> make_names() {
  std::unordered_map<std::string, std::string> names;
  for (const Family& family : families()) {
    names.emplace(folded(family.canonical), family.canonical);
    for (const char* name : family.names) names.emplace(folded(name), family.canonical);
  }
  return names;
}

}  // namespace

std::string canonical_type(const std::string& type) {
  static const std::unordered_map<std::string, std::string> names = make_names();
  const auto found = names.find(folded(type));
  return found == names.end() ? "" : found->second;
}

Compositions compositions_of(const std::string& canonical) {
  Compositions result;
  for (size_t i = 0; i < compositions().size(); ++i) {
    const Composition& c = compositions()[i];
    const uint32_t bit = uint32_t{1} << i;
    if (canonical == c.one) result.of |= bit;
    if (canonical == c.needed) result.needed |= bit;
    if (c.parts.count(canonical) > 0 || kViews.count(canonical) > 0) result.part |= bit;
  }
  return result;
}

bool is_identity_like(const std::string& canonical) {
  return canonical == "dropout" || canonical == "identity" || canonical == "flatten";
}

}  // namespace hb::layer_diff
