#pragma once
// The gradients of a backward pass, averaged over the ranks while it runs.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <halfbridge/accumulate_grad.h>
#include <halfbridge/autograd.h>
#include <halfbridge/bridge/distributed/data_parallel_options.h>

#include "distributed/buckets.h"

namespace hb::distributed {

/// Hooks of the parameters put each gradient into its bucket; a bucket that is full sets out; the last gradient of the
/// pass waits for all of them.
class Reducer : public std::enable_shared_from_this<Reducer> {
 public:
  /// `sparse`: the parameters whose gradients are sparse tensors.
  Reducer(std::vector<Tensor> parameters, std::vector<std::string> names, std::vector<bool> sparse,
          intrusive_ptr<ProcessGroup> group, const DataParallelOptions& options);
  ~Reducer();
  /// Registers the hooks.
  void watch();

  /// The next backward pass is to be averaged; `outputs` are what it may begin from. Throws if the one before has not
  /// ended.
  void prepare(const variable_list& outputs);
  /// The next backward pass stays on this rank.
  void skip() { expecting_ = within_ = false; }
  /// This rank has no data left: takes part in the others' averaging with zeros.
  void shadow();

  void set_hook(CommHook hook);
  /// What sums are divided by; the number of ranks at first.
  void set_divisor(int64_t divisor) { divisor_ = divisor; }
  const intrusive_ptr<ProcessGroup>& group() const { return group_; }
  std::vector<int64_t> bucket_sizes() const;

 private:
  struct Flat {
    Bucket bucket;
    Tensor data;
    std::vector<Tensor> views;
    size_t pending = 0;
    std::function<Tensor()> finish;
    bool sparse = false;  // its one member's gradient travels by itself
  };
  void rebuild(const std::vector<size_t>& order);
  void add_sparse(size_t parameter);
  void rebuild_if_due();
  void offer_places();
  void withdraw_places();
  void begin_pass();
  void find_unused(const variable_list& outputs);
  void ready(size_t parameter);
  bool counted(size_t parameter);
  [[noreturn]] void changed(size_t parameter) const;
  void end_pass();
  void launch_full();
  void fill(size_t parameter, bool used);
  void fill_sparse(Flat& bucket, const Tensor& grad, size_t parameter);
  void launch(size_t bucket);
  void finish();
  std::vector<bool> used_anywhere();
  void give_back(size_t parameter, const Tensor& view);
  std::string unfinished() const;

  std::vector<Tensor> parameters_;
  std::vector<std::string> names_;
  std::vector<bool> sparse_;
  intrusive_ptr<ProcessGroup> group_;
  DataParallelOptions options_;
  CommHook hook_;
  int64_t divisor_;

  std::vector<std::shared_ptr<autodiff::AccumulateGrad>> accumulators_;
  std::vector<uintptr_t> hooks_;
  std::unordered_map<const autodiff::Node*, size_t> number_;  // of the parameter that an accumulator is of

  std::vector<Flat> buckets_;
  std::vector<std::pair<size_t, size_t>> place_;  // bucket and member, by parameter
  bool rebuilt_ = false;
  int64_t passes_ = 0;
  std::vector<size_t> order_;  // in which gradients arrived in the first pass

  // Of the pass that runs.
  bool expecting_ = false, begun_ = false;
  std::vector<bool> arrived_, used_;
  std::vector<size_t> unused_;
  // Of a static graph: how often each parameter gets a gradient in a pass, and how often it has yet to; which have one
  // on some rank.
  std::vector<int> times_, times_left_;
  std::vector<bool> static_used_;
  bool within_ = false;  // a static graph's pass
  size_t next_ = 0;
};

}  // namespace hb::distributed
