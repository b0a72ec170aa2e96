// Crops, flips and rotations of training images.
#include <cmath>

#include "config/fields.h"
#include "data/images.h"

namespace attnlab {
namespace {

constexpr float kBlack = -1;

// Where the pixel (y, x) of the changed image comes from.
struct Change {
  double shift_y, shift_x, cosine, sine, middle_y, middle_x;
  bool flip;
  std::pair<double, double> from(Index y, Index x) const {
    const double across = flip ? 2 * middle_x - static_cast<double>(x) : static_cast<double>(x);
    const double dy = static_cast<double>(y) - middle_y, dx = across - middle_x;
    return {middle_y + cosine * dy - sine * dx + shift_y, middle_x + sine * dy + cosine * dx + shift_x};
  }
};

Change draw(const AugmentSpec& spec, const Patches& patches, const Random& random) {
  const auto shifts = static_cast<std::uint64_t>(2 * spec.crop + 1);
  const double angle =
      spec.rotation > 0 ? (2 * random.uniform(3) - 1) * spec.rotation * std::acos(-1.0) / 180 : 0;
  return {static_cast<double>(static_cast<Index>(random.below(0, shifts)) - spec.crop),
          static_cast<double>(static_cast<Index>(random.below(1, shifts)) - spec.crop),
          std::cos(angle),
          std::sin(angle),
          static_cast<double>(patches.height() - 1) / 2,
          static_cast<double>(patches.image_width() - 1) / 2,
          spec.flip && random.below(2, 2) == 1};
}

// The four pixels around a point, by their nearness.
float sample(std::span<const float> image, const Patches& patches, double y, double x, Index channel) {
  const auto top = static_cast<Index>(std::floor(y)), left = static_cast<Index>(std::floor(x));
  double sum = 0;
  for (const Index i : {top, top + 1})
    for (const Index j : {left, left + 1}) {
      const double weight =
          (1 - std::abs(y - static_cast<double>(i))) * (1 - std::abs(x - static_cast<double>(j)));
      const bool inside = i >= 0 && j >= 0 && i < patches.height() && j < patches.image_width();
      if (weight > 0)
        sum += weight * (inside ? image[static_cast<std::size_t>(patches.place(i, j, channel))] : kBlack);
    }
  return static_cast<float>(sum);
}

}  // namespace

void AugmentSpec::fields(Fields& f) {
  f("crop", crop, at_least(0), "training images are shifted by up to so many each way", "pixels");
  f("flip", flip, "every other training image has left and right changed");
  f("rotation", rotation, between(0, 180), "training images are turned by up to so many each way", "degrees");
}

Augment augmentation(const AugmentSpec& spec, const Patches& patches) {
  if (!spec.any()) return {};
  return [spec, patches](std::span<float> vectors, const Random& random) {
    const Change change = draw(spec, patches, random);
    const std::vector<float> given(vectors.begin(), vectors.end());
    for (Index y = 0; y < patches.height(); ++y)
      for (Index x = 0; x < patches.image_width(); ++x) {
        const auto [from_y, from_x] = change.from(y, x);
        for (Index c = 0; c < patches.channels(); ++c)
          vectors[static_cast<std::size_t>(patches.place(y, x, c))] =
              sample(given, patches, from_y, from_x, c);
      }
  };
}

}  // namespace attnlab
