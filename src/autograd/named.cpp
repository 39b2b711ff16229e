#include "autograd/named.h"

#include "autograd/record.h"
#include "autograd/watch.h"

namespace hb {

namespace {

class NamedNode final : public Node {
 public:
  NamedNode(const char* name, std::shared_ptr<Node> last) : name_(name), last_(std::move(last)) {
    set_next_edges(last_->next_edges());
  }
  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override { return last_->apply(std::move(grads)); }
  // A saved result has its own node as its history, so that a second derivative may meet that too: it comes after this
  // one, being older, and releases what both need.
  void release_variables() override {
    if (last_.use_count() == 1) last_->release_variables();
  }
  bool accepts_undefined() const override { return last_->accepts_undefined(); }

 private:
  const char* name_;
  std::shared_ptr<Node> last_;
};

}  // namespace

Tensor named(const char* name, Tensor result, const Tensor& self) {
  if (!result.defined() || !result.impl().autograd_meta() || GraphWatchers::any()) return result;
  if (result.layout() != kStrided || result.impl().storage() == self.impl().storage()) return result;
  const std::shared_ptr<Node> last = result.grad_fn();
  if (!last || last->num_inputs() != 1) return result;
  // A view of what the function made is no view to the program.
  Tensor out = result.is_view() ? Tensor(result.impl().alias(true)) : std::move(result);
  detail::attach(std::make_shared<NamedNode>(name, last), out);
  return out;
}

}  // namespace hb
