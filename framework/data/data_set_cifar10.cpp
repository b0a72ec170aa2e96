// CIFAR-10: 60,000 small photographs of ten classes (Krizhevsky 2009), in the binary format.
#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct Cifar10 final : DataSet {
  std::vector<DataSetFile> files() const override {
    std::vector<DataSetFile> all;
    for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                             "data_batch_5.bin", "test_batch.bin"})
      all.push_back({.name = name,
                     .url = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                     .sha256 = {},
                     .member = std::string("cifar-10-batches-bin/") + name,
                     .archive_sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                     .bytes = 10000 * 3073});
    return all;
  }
  std::string source() const override {
    return "Krizhevsky: Learning Multiple Layers of Features from Tiny Images. 2009";
  }
  std::string licence() const override { return "for research, by citation; no formal licence"; }
};

const Registered<DataSet, Cifar10> registered{"cifar10", "60,000 small photographs of ten classes"};

}  // namespace
}  // namespace attnlab
