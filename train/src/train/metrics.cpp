#include <halfbridge/train/metrics.h>

#include <algorithm>
#include <cctype>

#include <halfbridge/grad_mode.h>
#include <halfbridge/ops.h>

namespace hb::train {

namespace {

bool one_hot(const Tensor& predictions, const Tensor& targets) {
  return predictions.is_floating_point() && predictions.dim() >= 2 && targets.sizes() == predictions.sizes() &&
         predictions.size(1) > 1;
}

// Classes (N, ...) as int64, from whatever update() takes.
Tensor target_classes(const Tensor& predictions, const Tensor& targets) {
  if (one_hot(predictions, targets)) return targets.argmax(1);
  HB_CHECK(!targets.is_floating_point() || (targets == targets.floor()).all().item<bool>(),
           "[metric] expected targets to be classes or one-hot, got ", targets.scalar_type(), " ", targets.sizes(),
           " with fractions for predictions ", predictions.sizes());
  return targets.to(kLong);
}

Tensor predicted_classes(const Tensor& predictions, const Tensor& targets, double threshold) {
  if (!predictions.is_floating_point()) return predictions.to(kLong);
  if (predictions.dim() == targets.dim() + 1 || one_hot(predictions, targets)) {
    HB_CHECK(predictions.size(1) > 1, "[metric] expected scores of two classes or more, got ", predictions.sizes(),
             " for targets ", targets.sizes(), ": probabilities of one class take the shape of the targets");
    return predictions.argmax(1);
  }
  return (predictions >= threshold).to(kLong);
}

// Grown to `classes` rows and columns.
Tensor widened(const Tensor& counts, int64_t classes) {
  Tensor wide = zeros({classes, classes}, counts.defined() ? counts.options() : TensorOptions(kLong));
  if (counts.defined()) wide.narrow(0, 0, counts.size(0)).narrow(1, 0, counts.size(1)).copy_(counts);
  return wide;
}

// right / possible for each class, and what the average makes of it. Counts are (C), in float64.
struct Ratio {
  Tensor right, possible;
};
Tensor averaged(const Ratio& ratio, const Tensor& confusion, Average average) {
  if (average == Average::micro) return ratio.right.sum() / ratio.possible.sum();
  const Tensor values = where(ratio.possible > 0, ratio.right / ratio.possible, zeros_like(ratio.right));
  if (average == Average::none) return values;
  const Tensor support = confusion.sum(1);
  const Tensor weights = average == Average::weighted ? support : (support + confusion.sum(0) > 0).to(kDouble);
  return (values * weights).sum() / weights.sum();
}

}  // namespace

Metric::~Metric() = default;

double Metric::value() const {
  const Tensor result = compute();
  HB_CHECK(result.numel() == 1, "[", name_, "] expected a result of one value, got ", result.sizes());
  return result.item<double>();
}

ConfusionMatrix::ConfusionMatrix(int64_t num_classes, std::string name, double threshold)
    : Metric(std::move(name)), num_classes_(num_classes), threshold_(threshold) {
  HB_CHECK(num_classes >= 0, "[metric] expected num_classes of 0 (not known) or more, got ", num_classes);
}

void ConfusionMatrix::update(const Tensor& predictions, const Tensor& targets) {
  NoGradGuard no_grad;
  const Tensor truth = target_classes(predictions, targets),
               guess = predicted_classes(predictions, targets, threshold_);
  HB_CHECK(truth.sizes() == guess.sizes(), "[", name(), "] expected predictions of shape (N, C, ...) or (N, ...) for ",
           "targets of shape (N, ...), got ", predictions.sizes(), " and ", targets.sizes());
  if (truth.numel() == 0) return;
  const int64_t lowest = std::min(truth.min().item<int64_t>(), guess.min().item<int64_t>());
  const int64_t highest = std::max(truth.max().item<int64_t>(), guess.max().item<int64_t>());
  HB_CHECK(lowest >= 0 && (num_classes_ == 0 || highest < num_classes_), "[", name(), "] expected classes from 0 to ",
           num_classes_ == 0 ? highest : num_classes_ - 1, ", got ", lowest < 0 ? lowest : highest);
  int64_t classes = std::max(num_classes_, highest + 1);
  if (num_classes_ == 0 && predictions.is_floating_point() && guess.dim() < predictions.dim())
    classes = std::max(classes, predictions.size(1));
  if (!counts_.defined() || counts_.size(0) < classes) counts_ = widened(counts_, classes);
  const Tensor cells = (truth * counts_.size(0) + guess).reshape({-1}).to(kCPU);
  counts_.view({-1}).scatter_add_(0, cells, ones_like(cells));
}

Tensor ConfusionMatrix::counts() const {
  HB_CHECK(counts_.defined(), "[", name(), "] compute() before the first update()");
  return counts_.to(kDouble);
}
Tensor ConfusionMatrix::compute() const { return counts(); }
void ConfusionMatrix::clear() { counts_.reset(); }

Accuracy::Accuracy(Average average, int64_t num_classes, std::string name)
    : ConfusionMatrix(num_classes, std::move(name)), average_(average) {}
Tensor Accuracy::compute() const {
  const Tensor c = counts();
  return averaged({c.diagonal(), c.sum(1)}, c, average_);
}

Precision::Precision(Average average, int64_t num_classes, std::string name)
    : ConfusionMatrix(num_classes, std::move(name)), average_(average) {}
Tensor Precision::compute() const {
  const Tensor c = counts();
  return averaged({c.diagonal(), c.sum(0)}, c, average_);
}

Recall::Recall(Average average, int64_t num_classes, std::string name)
    : ConfusionMatrix(num_classes, std::move(name)), average_(average) {}
Tensor Recall::compute() const {
  const Tensor c = counts();
  return averaged({c.diagonal(), c.sum(1)}, c, average_);
}

F1::F1(Average average, int64_t num_classes, double beta, std::string name)
    : ConfusionMatrix(num_classes, std::move(name)), average_(average), beta_(beta) {
  HB_CHECK(beta > 0, "[f1] expected beta above 0, got ", beta);
}
Tensor F1::compute() const {
  const Tensor c = counts();
  const double b2 = beta_ * beta_;
  const Tensor right = c.diagonal() * (1 + b2);
  return averaged({right, c.sum(1) * b2 + c.sum(0)}, c, average_);
}

TopKAccuracy::TopKAccuracy(int64_t k, std::string name)
    : Metric(name.empty() ? "top_" + std::to_string(k) + "_accuracy" : std::move(name)), k_(k) {
  HB_CHECK(k >= 1, "[top_k_accuracy] expected k of at least 1, got ", k);
}

void TopKAccuracy::update(const Tensor& predictions, const Tensor& targets) {
  NoGradGuard no_grad;
  const Tensor truth = target_classes(predictions, targets);
  HB_CHECK(predictions.dim() == 2 && predictions.is_floating_point() && truth.dim() == 1 &&
               truth.size(0) == predictions.size(0),
           "[", name(), "] expected scores (N, C) and targets (N), got ", predictions.sizes(), " and ",
           targets.sizes());
  HB_CHECK(k_ <= predictions.size(1), "[", name(), "] expected at least ", k_, " classes, got scores ",
           predictions.sizes());
  const Tensor best = std::get<1>(predictions.topk(k_, 1));
  right_ += (best == truth.unsqueeze(1)).sum().item<int64_t>();
  total_ += truth.size(0);
}
Tensor TopKAccuracy::compute() const {
  HB_CHECK(total_ > 0, "[", name(), "] compute() before the first update()");
  return full({}, static_cast<double>(right_) / static_cast<double>(total_), kDouble);
}
void TopKAccuracy::clear() { right_ = total_ = 0; }

std::shared_ptr<Metric> make_metric(const std::string& name) {
  std::string key(name.size(), ' ');
  std::transform(name.begin(), name.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
  if (key == "accuracy" || key == "acc") return std::make_shared<Accuracy>();
  if (key == "precision") return std::make_shared<Precision>();
  if (key == "recall") return std::make_shared<Recall>();
  if (key == "f1") return std::make_shared<F1>();
  if (key == "confusion_matrix") return std::make_shared<ConfusionMatrix>();
  const std::string front = "top_", back = "_accuracy";
  if (key.size() > front.size() + back.size() && key.compare(0, front.size(), front) == 0 &&
      key.compare(key.size() - back.size(), back.size(), back) == 0) {
    const std::string k = key.substr(front.size(), key.size() - front.size() - back.size());
    if (k.size() < 6 && k.find_first_not_of("0123456789") == std::string::npos)
      return std::make_shared<TopKAccuracy>(std::stoll(k));
  }
  hb::detail::fail<ValueError>(
      "[metrics] expected accuracy, top_K_accuracy, precision, recall, f1 or confusion_matrix, got '", name, "'");
}

}  // namespace hb::train
