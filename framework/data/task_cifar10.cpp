// The task `cifar10`: small photographs of ten classes (Krizhevsky 2009) in patches, or as 1,024 grey
// symbols.
#include "config/registry.h"
#include "core/error.h"
#include "data/data_set.h"
#include "data/files.h"
#include "data/task_images.h"

namespace attnlab {
namespace {

struct Cifar10 final : ImageTaskSpec {
  std::string folder = "cifar10";
  std::vector<std::string> train{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                 "data_batch_4.bin", "data_batch_5.bin"};
  std::vector<std::string> test{"test_batch.bin"};

  void fields(Fields& f) override {
    f("folder", folder, "of the files in the binary format, within data.root unless absolute");
    f("train", train, "files of the training images");
    f("test", test, "files of the test images");
    ImageTaskSpec::fields(f);
    f.check(!train.empty(), "train", "names no file");
    f.check(!test.empty(), "test", "names no file");
  }
  Task load(const std::filesystem::path& root) const override {
    return make(read(root, train), read(root, test),
                {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"});
  }

 private:
  Images read(const std::filesystem::path& root, const std::vector<std::string>& names) const {
    Images all{32, 32, 3, {}, {}};
    for (const auto& name : names) {
      const auto path = find_data_file(root, folder, name);
      const Images part = parse_cifar10(read_bytes(path), path.string());
      all.pixels.insert(all.pixels.end(), part.pixels.begin(), part.pixels.end());
      all.labels.insert(all.labels.end(), part.labels.begin(), part.labels.end());
    }
    return grey_pixels || symbols ? grey(all) : all;
  }
};

const Registered<TaskSpec, Cifar10> registered{"cifar10", "small photographs of ten classes"};

}  // namespace
}  // namespace attnlab
