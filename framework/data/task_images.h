// What tasks of labelled images share: patches, grey, splits, changes for training.
#pragma once

#include "data/images.h"
#include "data/task_spec.h"

namespace attnlab {

struct ImageTaskSpec : TaskSpec {
  Index patch = 4, train_images = 0, valid_images = 1000, test_images = 0;
  bool grey_pixels = false, symbols = false;
  AugmentSpec augment;

  void fields(Fields& f) override;

 protected:
  // Examples of both files; the validation split is the end of the first. Throws DataError where a split has
  // no images, images differ in size, or a label is none of the classes.
  Task make(const Images& train, const Images& test, const std::vector<std::string>& classes) const;
};

}  // namespace attnlab
