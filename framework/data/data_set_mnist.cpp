// MNIST: 70,000 handwritten digits (LeCun et al. 1998).
#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct Mnist final : DataSet {
  std::vector<DataSetFile> files() const override {
    const std::string from = "https://storage.googleapis.com/cvdf-datasets/mnist/";
    return {{"train-images-idx3-ubyte", from + "train-images-idx3-ubyte.gz",
             "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
            {"train-labels-idx1-ubyte", from + "train-labels-idx1-ubyte.gz",
             "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
            {"t10k-images-idx3-ubyte", from + "t10k-images-idx3-ubyte.gz",
             "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
            {"t10k-labels-idx1-ubyte", from + "t10k-labels-idx1-ubyte.gz",
             "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
  }
  std::string source() const override {
    return "LeCun, Bottou, Bengio, Haffner: Gradient-Based Learning Applied to Document Recognition. "
           "Proceedings of the IEEE 86(11), 1998";
  }
  std::string licence() const override { return "free to use; commonly stated as CC BY-SA 3.0"; }
};

const Registered<DataSet, Mnist> registered{"mnist", "70,000 handwritten digits"};

}  // namespace
}  // namespace attnlab
