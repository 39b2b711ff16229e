#pragma once
// Metrics of classification that are fed batch by batch: update() for each, compute() for the result, clear() to begin
// again.

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <halfbridge/tensor.h>

namespace hb::train {

/// How the values of the classes become one: of all decisions together, the mean over classes, the mean weighted by how
/// often a class is the true one, or not at all (a tensor with one value per class). Classes that are neither true nor
/// predicted anywhere do not count in the mean.
enum class Average { micro, macro, weighted, none };

/// Base of metrics. A class of one's own overrides update, compute and clear.
class HB_API Metric {
 public:
  explicit Metric(std::string name) : name_(std::move(name)) {}
  virtual ~Metric();
  /// Adds a batch. `predictions` are scores (N, C, ...), classes (N, ...) or, for two classes, probabilities (N, ...);
  /// `targets` are classes (N, ...), or one-hot in the shape of the scores.
  virtual void update(const Tensor& predictions, const Tensor& targets) = 0;
  /// The result over all batches since clear(), in float64. Throws before the first update.
  virtual Tensor compute() const = 0;
  virtual void clear() = 0;

  /// compute() as a number; throws where that is not a single value.
  double value() const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Counts (true class, predicted class): rows are the true classes. Base of all metrics that follow from it.
class HB_API ConfusionMatrix : public Metric {
 public:
  /// `num_classes` 0: as many as were seen, counted from 0. Probabilities from `threshold` on are class 1.
  explicit ConfusionMatrix(int64_t num_classes = 0, std::string name = "confusion_matrix", double threshold = 0.5);
  /// Throws for classes outside [0, num_classes) and for shapes that do not fit.
  void update(const Tensor& predictions, const Tensor& targets) override;
  /// (num_classes, num_classes)
  Tensor compute() const override;
  void clear() override;

 protected:
  /// The counts; throws where there are none.
  Tensor counts() const;

 private:
  int64_t num_classes_;
  double threshold_;
  Tensor counts_;  // (classes, classes) int64, undefined before the first update
};

/// Share of the predictions that are right; macro is the mean of the classes' recalls (balanced accuracy).
class HB_API Accuracy : public ConfusionMatrix {
 public:
  explicit Accuracy(Average average = Average::micro, int64_t num_classes = 0, std::string name = "accuracy");
  Tensor compute() const override;

 private:
  Average average_;
};

/// Right ones among those predicted to be of a class: TP / (TP + FP); 0 where a class is never predicted.
class HB_API Precision : public ConfusionMatrix {
 public:
  explicit Precision(Average average = Average::macro, int64_t num_classes = 0, std::string name = "precision");
  Tensor compute() const override;

 private:
  Average average_;
};

/// Those found among the ones of a class: TP / (TP + FN); 0 where a class never occurs.
class HB_API Recall : public ConfusionMatrix {
 public:
  explicit Recall(Average average = Average::macro, int64_t num_classes = 0, std::string name = "recall");
  Tensor compute() const override;

 private:
  Average average_;
};

/// F-score: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP); with b = 1 the harmonic mean of precision and recall.
class HB_API F1 : public ConfusionMatrix {
 public:
  explicit F1(Average average = Average::macro, int64_t num_classes = 0, double beta = 1, std::string name = "f1");
  Tensor compute() const override;

 private:
  Average average_;
  double beta_;
};

/// Share of the examples whose true class is among the k highest scores. Scores (N, C), targets (N) or one-hot (N, C).
class HB_API TopKAccuracy : public Metric {
 public:
  explicit TopKAccuracy(int64_t k, std::string name = "");
  void update(const Tensor& predictions, const Tensor& targets) override;
  Tensor compute() const override;
  void clear() override;

 private:
  int64_t k_, right_ = 0, total_ = 0;
};

/// Mean of numbers, each weighted: the loss over an epoch.
class HB_API Mean {
 public:
  void update(double value, double weight = 1) { sum_ += value * weight, weight_ += weight; }
  bool empty() const { return weight_ == 0; }
  double compute() const { return sum_ / weight_; }
  void clear() { sum_ = weight_ = 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

/// A metric by name: accuracy, top_1_accuracy, top_5_accuracy (any number), precision, recall, f1, confusion_matrix.
HB_API std::shared_ptr<Metric> make_metric(const std::string& name);

/// Metrics as they are listed for Model: by name or as objects.
class Metrics : public std::vector<std::shared_ptr<Metric>> {
 public:
  struct Entry {
    Entry(const char* name) : metric(make_metric(name)) {}         // NOLINT: implicit
    Entry(const std::string& name) : metric(make_metric(name)) {}  // NOLINT
    template <class M, class = std::enable_if_t<std::is_base_of_v<Metric, M>>>
    Entry(M m) : metric(std::make_shared<M>(std::move(m))) {}  // NOLINT
    template <class M, class = std::enable_if_t<std::is_base_of_v<Metric, M>>>
    Entry(std::shared_ptr<M> m) : metric(std::move(m)) {}  // NOLINT
    std::shared_ptr<Metric> metric;
  };
  Metrics() = default;
  Metrics(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) push_back(e.metric);
  }
};

}  // namespace hb::train
