// The task `mnist`: handwritten digits (LeCun et al. 1998) in patches.
#include "config/registry.h"
#include "data/data_set.h"
#include "data/files.h"
#include "data/labels.h"
#include "data/task_images.h"

namespace attnlab {
namespace {

struct Mnist final : ImageTaskSpec {
  std::string folder = "mnist";
  void fields(Fields& f) override {
    f("folder", folder, "of the four IDX files, within data.root unless absolute");
    ImageTaskSpec::fields(f);
  }
  Task load(const std::filesystem::path& root) const override {
    const auto read = [this, &root](const std::string& part) {
      const auto images = find_data_file(root, folder, part + "-images-idx3-ubyte");
      const auto labels = find_data_file(root, folder, part + "-labels-idx1-ubyte");
      return parse_idx(read_bytes(images), read_bytes(labels), images.string());
    };
    return make(read("train"), read("t10k"), numbered(10));
  }
};

const Registered<TaskSpec, Mnist> registered{"mnist", "handwritten digits in patches"};

}  // namespace
}  // namespace attnlab
