#pragma once
// Convolutions whose result goes to a batch norm and nowhere else: in evaluation both are one convolution, whose weight
// is scaled by gamma / sqrt(variance + eps) and whose bias is (bias - mean) * that + beta (Jacob et al. 2018,
// section 3.2).

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "script/node.h"
#include "script/syntax.h"
#include "script/unit.h"

namespace hb::bridge::script {

/// norm(convolution(input)) in the body of a method.
struct NormFold {
  Names convolution, norm;  // the modules: attributes of self, of these, ...
  const Expr* input;
};
/// What a method is compiled with, by its calls: both modules where the convolution is called, since code in between
/// may write to the input.
struct NormFolds {
  std::map<const Expr*, NormFold> convolutions;
  std::map<const Expr*, const Expr*> norms;  // what is compiled instead
};
/// The folds in a method of this object.
NormFolds find_norm_folds(const ivalue::ObjectData& object, const FunctionSyntax& method);

/// Compiles the methods of a module and of those in it with folds, for this tree alone. What is saved stays as it was.
void fold_batch_norms(const std::shared_ptr<ivalue::ObjectData>& root);

/// A convolution of torch.nn, as its code calls it.
struct ConvolutionCode {
  std::string function;          // "aten::conv2d"
  std::vector<IValue> settings;  // behind input, weight and bias
};
std::optional<ConvolutionCode> convolution_code(const ivalue::ObjectData& object);
/// Of a batch norm of torch.nn that was not traced in training; nothing for other objects.
std::optional<double> norm_eps(const ivalue::ObjectData& object);

/// Calls both modules as one convolution while the norm is in evaluation. The folded weights are made anew where a
/// tensor of theirs is another or was written to.
class FoldedNorm final : public Node {
 public:
  FoldedNorm(int line, NodePtr convolution, NodePtr norm, NodePtr input);
  ~FoldedNorm() override;
  IValue eval(Frame& frame) const override;

 private:
  struct Folded;
  using ObjectPtr = std::shared_ptr<ivalue::ObjectData>;
  std::shared_ptr<const Folded> folded(const ObjectPtr& convolution, const ObjectPtr& norm) const;

  NodePtr convolution_, norm_, input_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Folded>> known_;  // copies of a module share this node
};

}  // namespace hb::bridge::script
