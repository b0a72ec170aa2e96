#include "data/images.h"

#include "config/error.h"
#include "core/error.h"

namespace attnlab {
namespace {

constexpr Index kCifarSide = 32, kCifarRecord = 1 + 3 * kCifarSide * kCifarSide;

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Throws unless the header is that of `axes` axes of bytes and the file holds what it promises.
std::vector<Index> idx_shape(std::string_view bytes, std::size_t axes, const std::string& name) {
  const std::size_t header = 4 + 4 * axes;
  if (bytes.size() < header || big_endian(bytes, 0) != 0x800 + axes)
    throw DataError(join_text(name, ": not an IDX file of bytes with ", axes, " axes"));
  std::vector<Index> shape;
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    shape.push_back(big_endian(bytes, 4 + 4 * axis));
    const auto size = static_cast<std::uint64_t>(shape.back());
    count = size != 0 && count > bytes.size() / size ? bytes.size() + 1 : count * size;
  }
  if (count != bytes.size() - header)
    throw DataError(
        join_text(name, ": its header promises another size than the ", bytes.size(), " bytes it has"));
  return shape;
}

std::uint8_t byte_at(std::string_view bytes, Index i) {
  return static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(i)]);
}

}  // namespace

Images parse_idx(std::string_view images, std::string_view labels, const std::string& name) {
  const auto shape = idx_shape(images, 3, name + " (images)");
  const auto count = idx_shape(labels, 1, name + " (labels)");
  if (shape[0] != count[0])
    throw DataError(join_text(name, ": ", shape[0], " images, but ", count[0], " labels"));
  if (shape[1] == 0 || shape[2] == 0) throw DataError(name + ": images without pixels");
  Images result{shape[1], shape[2], 1, {}, {}};
  result.pixels.assign(images.begin() + 16, images.end());
  result.labels.assign(labels.begin() + 8, labels.end());
  return result;
}

Images parse_cifar10(std::string_view bytes, const std::string& name) {
  const auto size = static_cast<Index>(bytes.size());
  if (size == 0 || size % kCifarRecord != 0)
    throw DataError(join_text(name, ": ", size, " bytes are no whole records of ", kCifarRecord));
  Images result{kCifarSide, kCifarSide, 3, {}, {}};
  const Index plane = kCifarSide * kCifarSide;
  result.pixels.reserve(bytes.size());
  for (Index record = 0; record < size; record += kCifarRecord) {
    if (byte_at(bytes, record) > 9)
      throw DataError(join_text(name, ": record ", record / kCifarRecord, " has the label ",
                                static_cast<int>(byte_at(bytes, record)), ", expected 0 to 9"));
    result.labels.push_back(byte_at(bytes, record));
    for (Index i = 0; i < plane; ++i)
      for (Index c = 0; c < 3; ++c) result.pixels.push_back(byte_at(bytes, record + 1 + c * plane + i));
  }
  return result;
}

Images grey(const Images& images) {
  if (images.channels == 1) return images;
  Images result{images.height, images.width, 1, {}, images.labels};
  for (std::size_t i = 0; i + 2 < images.pixels.size(); i += 3)
    result.pixels.push_back(static_cast<std::uint8_t>(
        (299 * images.pixels[i] + 587 * images.pixels[i + 1] + 114 * images.pixels[i + 2] + 500) / 1000));
  return result;
}

Patches::Patches(const Images& images, Index patch)
    : patch_(patch), down_(images.height / patch), across_(images.width / patch), channels_(images.channels) {
  if (down_ * patch != images.height || across_ * patch != images.width)
    throw ConfigError(join_text("error: data.task.patch: patches of ", patch, " do not cover images of ",
                                images.height, " x ", images.width));
}

Index Patches::place(Index y, Index x, Index channel) const {
  const Index row = y / patch_ * across_ + x / patch_, within = y % patch_ * patch_ + x % patch_;
  return (row * patch_ * patch_ + within) * channels_ + channel;
}

std::vector<float> Patches::of(const Images& images, Index i) const {
  std::vector<float> numbers(static_cast<std::size_t>(images.size()));
  const std::uint8_t* pixel = images.pixels.data() + i * images.size();
  for (Index y = 0; y < images.height; ++y)
    for (Index x = 0; x < images.width; ++x)
      for (Index c = 0; c < images.channels; ++c)
        numbers[static_cast<std::size_t>(place(y, x, c))] =
            (static_cast<float>(*pixel++) / 255.0F - 0.5F) / 0.5F;
  return numbers;
}

}  // namespace attnlab
