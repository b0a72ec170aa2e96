// Labelled images of one size: readers of the IDX and CIFAR-10 formats, patches as rows of numbers, and
// random changes for training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "core/random.h"
#include "data/task.h"

namespace attnlab {

struct Images {
  Index height = 0, width = 0, channels = 1;
  std::vector<std::uint8_t> pixels;  // [count, height, width, channels]
  std::vector<std::uint8_t> labels;
  Index count() const { return static_cast<Index>(labels.size()); }
  Index size() const { return height * width * channels; }  // bytes of one
};

// The bytes of an IDX file of images (0x803) and of one of labels (0x801). `name` is for messages. Throws
// DataError where header and size disagree, images have no pixels, or the two have other counts.
Images parse_idx(std::string_view images, std::string_view labels, const std::string& name);
// Records of the CIFAR-10 binary format: a label, then the red, green and blue planes of 32 x 32. Throws
// DataError.
Images parse_cifar10(std::string_view bytes, const std::string& name);
// The grey of each pixel (0.299 red + 0.587 green + 0.114 blue).
Images grey(const Images& images);

// How an image becomes rows: square patches, left to right and top to bottom; a row holds its pixels line by
// line, the channels of a pixel side by side. Numbers are (pixel / 255 - 0.5) / 0.5.
class Patches {
 public:
  // Throws ConfigError where the patch does not divide the image.
  Patches(const Images& images, Index patch);
  Index rows() const { return down_ * across_; }
  Index width() const { return patch_ * patch_ * channels_; }
  std::vector<float> of(const Images& images, Index i) const;
  // Where the number at row-major place `pixel` of the image stands in of().
  Index place(Index y, Index x, Index channel) const;
  Index height() const { return down_ * patch_; }
  Index image_width() const { return across_ * patch_; }
  Index channels() const { return channels_; }

 private:
  Index patch_, down_, across_, channels_;
};

// Random changes of training images; what comes from outside is black.
struct AugmentSpec {
  Index crop = 0;       // shifted by up to so many pixels each way
  bool flip = false;    // left and right, every other one
  double rotation = 0;  // by up to so many degrees each way
  void fields(Fields& f);
  bool any() const { return crop > 0 || flip || rotation > 0; }
};
Augment augmentation(const AugmentSpec& spec, const Patches& patches);

}  // namespace attnlab
