// attnlab bench matmul: the roofline of a preset. What oneDNN reaches on the very products of a training
// step, shape by shape and together, however it is asked; and what attnlab's own door to it reaches.
#include <algorithm>

#include "bench/measuring.h"
#include "bench/presets.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "kernels/cpu.h"
#include "kernels/matmul.h"
#include "kernels/roofline.h"

namespace attnlab {
namespace {

using kernels::ProductShape;

struct Options : MeasureOptions {
  std::string preset;
  double seconds = 0.05;
};

// A linear map of the model and how often it stands there.
struct Map {
  std::string name;
  Index out, in, count;
};

std::vector<Map> maps_of(const Preset& preset) {
  const Index L = preset.layers, D = preset.width, F = preset.feed_forward;
  const Index sides = preset.language_model ? 1 : 2, cross = preset.language_model ? 0 : 1;
  std::vector<Map> maps{{"query+key+value", 3 * D, D, L * sides},
                        {"attention output", D, D, L * (sides + 2 * cross)},
                        {"up", F, D, L * sides},
                        {"down", D, F, L * sides},
                        {"logits", preset.vocabulary, D, 1}};
  maps[1].name = cross ? "attention output+cross query" : maps[1].name;
  if (cross) maps.insert(maps.begin() + 1, {"cross key+value", 2 * D, D, L});
  return maps;
}

// y = x w^T, dx = dy w, dw = dy^T x.
std::vector<std::pair<std::string, ProductShape>> products_of(const Map& map, Index rows, DType type) {
  const DType gradient = type == DType::bf16 ? DType::f32 : type;
  return {{"forward", {rows, map.out, map.in, false, true, true, type, type}},
          {"input gradient", {rows, map.in, map.out, false, false, true, type, type}},
          {"weight gradient", {map.out, map.in, rows, true, false, false, type, gradient}}};
}

double own_seconds(const ProductShape& shape, double most) {
  const Tensor a = Tensor::filled({shape.rows, shape.depth}, shape.type, 0.5);
  const Tensor b = Tensor::filled({shape.depth, shape.columns}, shape.type, 0.5);
  const Tensor c = Tensor::zeros({shape.rows, shape.columns}, shape.result_type);
  const auto view = [&shape](const Tensor& tensor, Index rows, Index columns, bool transposed) {
    return kernels::MatrixView{tensor.raw(), shape.type, rows, columns, transposed ? rows : columns,
                               transposed};
  };
  const auto seconds = timed(
      [&] {
        kernels::matmul(view(a, shape.rows, shape.depth, shape.a_transposed),
                        view(b, shape.depth, shape.columns, shape.b_transposed),
                        {c.raw(), shape.result_type, shape.rows, shape.columns, shape.columns});
      },
      1, 1000, most);
  return *std::min_element(seconds.begin(), seconds.end());
}

Record figures(double gflop, double best, double own) {
  return {{"gflop", rounded(gflop)},
          {"best_s", rounded(best)},
          {"gflop_per_s", rounded(gflop / best)},
          {"attnlab_s", rounded(own)},
          {"attnlab_share", rounded(best / own, 3)}};
}

void measure(const Preset& preset, DType type, const Options& options, ResultTable& results) {
  double gflop = 0, best = 0, own = 0;
  for (const Map& map : maps_of(preset))
    for (const auto& [pass, shape] : products_of(map, preset.rows(), type)) {
      const auto fastest = kernels::fastest_product(shape, options.seconds);
      const double mine = own_seconds(shape, 4 * options.seconds);
      Record row{{"preset", preset.name}, {"precision", to_string(type)},
                 {"map", map.name},       {"pass", pass},
                 {"rows", shape.rows},    {"columns", shape.columns},
                 {"depth", shape.depth},  {"count", map.count}};
      row.append(figures(shape.flop() / 1e9, fastest.seconds, mine));
      row.set("way", fastest.way);
      results.row(row);
      const auto count = static_cast<double>(map.count);
      gflop += count * shape.flop() / 1e9;
      best += count * fastest.seconds;
      own += count * mine;
    }
  Record row{{"preset", preset.name},
             {"precision", to_string(type)},
             {"threads", static_cast<Index>(thread_count())}};
  row.append(figures(gflop, best, own));
  results.row(row);
}

int run(const Options& options) {
  ResultTable results(options.json);
  std::vector<DType> types{options.apply()};
  if (options.precision == "auto" && kernels::has_native_bf16()) types = {DType::f32, DType::bf16};
  for (const Preset& preset : presets_named(options.preset))
    for (const DType type : types) measure(preset, type, options, results);
  return 0;
}

const Benchmark benchmark{
    "matmul", "the roofline: what oneDNN reaches on the products of a preset", [](CLI::App& app) {
      auto options = std::make_shared<Options>();
      options->declare(app);
      app.add_option("--preset", options->preset, "only this one");
      app.add_option("--seconds", options->seconds, "for each way of each product")->capture_default_str();
      return [options] { return run(*options); };
    }};

}  // namespace
}  // namespace attnlab
