// Kernels for images and shapes on the software device beside the CPU: those whose threads take several planes, windows
// that a warp shares, depthwise convolutions, triangles, vector products.
#include "software_cuda/program/beside_cpu.h"

namespace {

/// So many that a thread takes several of the planes, whose number no thread's share divides.
Tensor many_planes(torch::Dtype dtype = torch::kFloat) { return values({53, 5, 66, 65}, dtype); }

TEST(SoftwareImages, ThreadsOfSeveralPlanes) {
  const std::vector<std::pair<std::string, Function>> functions{
      {"max_pool2d", [](auto& in) { return torch::max_pool2d(in[0], 3, 1, 1); }},
      {"avg_pool2d", [](auto& in) { return torch::avg_pool2d(in[0], 3, 1, 1); }},
      {"nearest",
       [](auto& in) {
         return torch::upsample_nearest2d(in[0], {67, 66});
       }},
      {"bilinear",
       [](auto& in) {
         return torch::upsample_bilinear2d(in[0], {67, 69}, false);
       }},
      {"reflect",
       [](auto& in) {
         return torch::reflection_pad2d(in[0], {1, 2, 1, 0});
       }},
      {"depthwise",
       [](auto& in) {
         return torch::conv2d(in[0], torch::ones({5, 1, 3, 3}, in[0].options()), {}, 1, 1, 1, 5);
       }},
  };
  for (const auto& [name, function] : functions) expect_same(name, function, {many_planes()});
  const Tensor x = many_planes(), grid = values({53, 66, 65, 2}, torch::kFloat, 1).mul(0.6);
  for (const Tensor& in : {x, x.contiguous(torch::MemoryFormat::ChannelsLast)})
    expect_close("grid", torch::grid_sampler(in.to(kGpu), grid.to(kGpu), 0, 0, false),
                 torch::grid_sampler(in, grid, 0, 0, false), step_of(torch::kFloat));
}

TEST(SoftwareImages, LayoutsOfPools) {
  const auto last = [](const Tensor& t) { return t.contiguous(torch::MemoryFormat::ChannelsLast); };
  for (const torch::Dtype t : kFloats) {
    const Tensor x = values({2, 3, 9, 8}, t);
    for (const Tensor& in : {x, last(x), x.transpose(2, 3), values({2, 1, 9, 8}, t), values({2, 3, 1, 1}, t)}) {
      expect_same("max", [](auto& v) { return torch::max_pool2d(v[0], 3, 2, 1, 1, true); }, {in});
      expect_same("dilated", [](auto& v) { return torch::max_pool2d(v[0], 2, 1, 1, 2); }, {x});
      expect_same("avg", [](auto& v) { return torch::avg_pool2d(v[0], 2, 2, 1, true, false); }, {in});
      expect_same("adaptive avg", [](auto& v) { return torch::adaptive_avg_pool2d(v[0], {4, 3}); }, {in});
      expect_same("adaptive max", [](auto& v) { return std::get<0>(torch::adaptive_max_pool2d(v[0], {2, 3})); }, {in});
    }
  }
  const Tensor x = values({2, 3, 9, 8}).to(kGpu);
  EXPECT_TRUE(torch::max_pool2d(last(x), 2).is_contiguous(torch::MemoryFormat::ChannelsLast));
}

TEST(SoftwareImages, WindowsOfWarps) {
  Tensor x = values({2, 3, 18, 17}).mul(4).round();  // with equals
  x[0][1][2][3] = NAN, x[0][1][3][1] = NAN;
  const auto places = [](const Tensor& t) { return std::get<1>(torch::adaptive_max_pool2d(t, {2, 2})).cpu(); };
  EXPECT_TRUE(places(x.to(kGpu)).equal(places(x)));
  for (const torch::Dtype t : kFloats) {
    expect_same("max", [](auto& in) { return std::get<0>(torch::adaptive_max_pool2d(in[0], {2, 2})); }, {x.to(t)});
    expect_same("avg", [](auto& in) { return torch::adaptive_avg_pool2d(in[0], {2, 3}); }, {values({2, 3, 19, 33}, t)});
    expect_same("large", [](auto& in) { return torch::avg_pool2d(in[0], 7, 5, 3); }, {values({2, 3, 19, 33}, t)});
  }
}

TEST(SoftwareImages, Resampling) {
  const auto bicubic = [](int64_t h, int64_t w, bool corners) {
    return [=](auto& in) { return torch::upsample_bicubic2d(in[0], {h, w}, corners); };
  };
  for (const torch::Dtype t : kFloats)
    for (const bool corners : {false, true})
      for (const auto& [h, w] : {std::pair{13, 5}, {3, 17}, {1, 1}, {2, 30}}) {
        const Tensor x = values({2, 3, 6, 7}, t);
        expect_same("bicubic", bicubic(h, w, corners), {x});
        expect_same("bilinear", [=](auto& in) { return torch::upsample_bilinear2d(in[0], {h, w}, corners); }, {x});
        expect_same("own scale",
                    [=](auto& in) {
                      return torch::upsample_bilinear2d(in[0], {h, w}, corners, 0.4, 3.);
                    },
                    {x});
        expect_same("linear", [=](auto& in) { return torch::upsample_linear1d(in[0], {w}, corners); }, {x[0]});
      }
}

TEST(SoftwareImages, Depthwise) {
  for (const torch::Dtype t : kFloats) {
    const Tensor x = values({3, 4, 9, 8}, t), w = values({8, 1, 3, 2}, t, 1), bias = values({8}, t, 2);
    for (const int64_t stride : {1, 2, 3})
      expect_same("conv2d",
                  [=](auto& in) {
                    return torch::conv2d(in[0], in[1], in[2], stride, {1, 2}, {1, 2}, 4);
                  },
                  {x, w, bias});
    expect_same("transposed", [](auto& in) { return torch::conv_transpose2d(in[0], in[1], in[2], 2, 1, 1, 4); },
                {x, values({4, 1, 3, 3}, t), values({4}, t, 1)});
    expect_same("conv1d", [](auto& in) { return torch::conv1d(in[0], in[1], {}, 2, 1, 1, 4); },
                {values({2, 4, 11}, t), values({4, 1, 3}, t)});
    expect_same("conv3d", [](auto& in) { return torch::conv3d(in[0], in[1], {}, 1, 1, 1, 2); },
                {values({2, 2, 4, 5, 3}, t), values({2, 1, 3, 2, 2}, t)});
  }
}

TEST(SoftwareImages, TrianglesAndVectorProducts) {
  for (const int64_t diagonal : {-20, -3, -1, 0, 2, 6, 20}) {
    for (const auto& [rows, columns] : {std::pair{5, 8}, {7, 5}, {1, 16}, {16, 1}}) {
      for (const torch::Dtype t : {torch::kByte, torch::kHalf, torch::kFloat, torch::kDouble, torch::kComplexDouble}) {
        const Tensor x = values({2, rows, columns}).mul(9).to(torch::kInt).to(t), there = x.to(kGpu);
        EXPECT_TRUE(there.tril(diagonal).cpu().equal(x.tril(diagonal))) << diagonal;
        EXPECT_TRUE(there.triu(diagonal).cpu().equal(x.triu(diagonal))) << diagonal;
        EXPECT_TRUE(there.slice(2, 1).triu(diagonal).cpu().equal(x.slice(2, 1).triu(diagonal))) << diagonal;
      }
      const auto there = torch::TensorOptions(torch::kLong).device(kGpu);
      const Tensor lower = torch::tril_indices(rows, columns, diagonal, there);
      const Tensor upper = torch::triu_indices(rows, columns, diagonal, there);
      EXPECT_TRUE(lower.cpu().equal(torch::tril_indices(rows, columns, diagonal))) << diagonal;
      EXPECT_TRUE(upper.cpu().equal(torch::triu_indices(rows, columns, diagonal))) << diagonal;
    }
  }
  for (const torch::Dtype t : kFloats) {
    expect_same("lines", [](auto& in) { return torch::linalg_cross(in[0], in[1]); },
                {values({5, 3}, t), values({5, 3}, t, 1)});
    expect_same("columns", [](auto& in) { return torch::linalg_cross(in[0], in[1], 1); },
                {values({2, 3, 4}, t), values({2, 3, 1}, t, 1)});
    const Tensor x = values({50, 3}, t).to(kGpu);
    EXPECT_TRUE(torch::linalg_cross(x, x).eq(0).all().item<bool>());
  }
}

}  // namespace
