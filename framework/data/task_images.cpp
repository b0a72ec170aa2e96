#include "data/task_images.h"

#include <algorithm>

#include "core/error.h"
#include "data/labels.h"
#include "data/vocabulary.h"

namespace attnlab {
namespace {

// Adds images [begin, end) as examples; `fill` gives an example its input.
template <class Fill>
void add_images(const Task& task, Corpus& corpus, const Images& images, Index begin, Index end,
                const Fill& fill) {
  for (Index i = begin; i < end; ++i) {
    Example example;
    const Token label = images.labels[static_cast<std::size_t>(i)];
    if (label >= task.target->size())
      throw DataError(join_text("image ", i, " has the label ", label, ", but there are ",
                                task.target->size(), " classes"));
    fill(example, images, i);
    example.target = label_target({label});
    corpus.examples.push_back(std::move(example));
    corpus.references.push_back(task.target->piece(label));
  }
}

std::string extent_of(const Images& images) {
  return join_text(images.height, " x ", images.width, " x ", images.channels);
}

}  // namespace

void ImageTaskSpec::fields(Fields& f) {
  f("patch", patch, at_least(1), "side of the squares that are one row each", "pixels");
  f("grey", grey_pixels, "the grey of each pixel instead of its colours");
  f("symbols", symbols,
    "each grey pixel is a symbol of its own (0 to 255), as in the Long Range Arena; patch is not used");
  f("train_images", train_images, at_least(0), "so many of the training split; 0: all", "images");
  f("valid_images", valid_images, at_least(1), "of the end of the training file, for validation", "images");
  f("test_images", test_images, at_least(0), "so many of the test file; 0: all", "images");
  f.section("augment", augment, "random changes of training images");
  f.check(!symbols || !augment.any(), "augment", "changes vectors, not symbols");
}

Task ImageTaskSpec::make(const Images& train, const Images& test,
                         const std::vector<std::string>& classes) const {
  if (valid_images >= train.count())
    throw DataError(
        join_text("valid_images is ", valid_images, ", but there are only ", train.count(), " images"));
  if (test.count() == 0) throw DataError("the test files have no images");
  if (extent_of(train) != extent_of(test))
    throw DataError("test images of another size (height x width x channels) than training images: " +
                    extent_of(test) + ", expected " + extent_of(train));
  Task task;
  task.target = std::make_shared<Labels>(classes);
  task.labels = 1;
  task.metrics = {"accuracy"};
  task.best_score = 1.0;
  task.tests.push_back({"test", {}});
  const Index rest = train.count() - valid_images;
  const Index used = train_images == 0 ? rest : std::min(train_images, rest);
  const Index tested = test_images == 0 ? test.count() : std::min(test_images, test.count());
  const auto add_all = [&](const auto& fill) {
    add_images(task, task.train, train, 0, used, fill);
    add_images(task, task.valid, train, rest, train.count(), fill);
    add_images(task, task.tests.front().corpus, test, 0, tested, fill);
  };
  if (symbols) {
    const auto greys = std::make_shared<Vocabulary>(TokenUnit::word, numbered(256));
    task.source = greys;
    add_all([&greys](Example& example, const Images& images, Index i) {
      const Token first = greys->encode("0").front();
      for (Index at = i * images.size(); at < (i + 1) * images.size(); ++at)
        example.source.push_back(first + images.pixels[static_cast<std::size_t>(at)]);
    });
  } else {
    const Patches patches(train, patch);
    task.vector_width = patches.width();
    task.augment = augmentation(augment, patches);
    add_all([&patches](Example& example, const Images& images, Index i) {
      example.vectors = patches.of(images, i);
      example.vector_rows = patches.rows();
    });
  }
  task.baselines = {{"majority", majority_accuracy(task.train, task.tests.front().corpus)}};
  task.notes.push_back(
      join_text(used, " training images, ", valid_images, " for validation, ", tested, " for the test"));
  return task;
}

}  // namespace attnlab
