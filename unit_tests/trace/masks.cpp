// Dropout that takes its masks from a reference's trace.

#include <torch/torch.h>

#include "trace/trace_files.h"
#include "trace/trace_training.h"

namespace {

using trace_files::fresh_folder;
using namespace trace_training;

TEST(TraceMasks, DropoutFollowsTheReference) {
  const std::string reference = fresh_folder();
  Training a;
  {
    Session session(reference, {a.net.ptr()}, all_steps());
    a.step(), a.step();
  }
  Training b;
  torch::manual_seed(99);
  {
    SessionOptions options;
    options.masks = reference;
    Session session("", {b.net.ptr()}, options);
    b.step(), b.step();
    EXPECT_TRUE(b.loss.equal(a.loss));
    b.step();  // the reference has no such step: masks of its own
  }
  Training c;
  torch::manual_seed(99);
  c.step(), c.step();
  EXPECT_FALSE(c.loss.equal(a.loss));
}

TEST(TraceMasks, ErrorsSayWhatIsMissing) {
  const std::string reference = fresh_folder();
  Training a;
  SessionOptions options;
  options.masks = reference;
  EXPECT_THROW(Session("", {}, options), hb::Error);  // no trace there
  {
    Session session(reference, {a.net.ptr()}, SessionOptions());
    a.step();
  }
  const auto message = [&](const Tensor& x, int times) {
    Training b;
    Session session("", {b.net.ptr()}, options);
    try {
      for (int i = 0; i < times; ++i) b.net->forward(x);
    } catch (const hb::Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(a.x, 1), "");
  EXPECT_NE(message(a.x, 2).find("module 'dropout' in step 0 draws mask number 2"), std::string::npos);
  EXPECT_NE(message(torch::randn({6, 4}), 1).find("expected a mask of shape [6, 8], got [5, 8]"), std::string::npos);
}

}  // namespace
