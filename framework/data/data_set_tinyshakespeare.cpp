// Tiny Shakespeare: 1.1 million characters of plays, for language models.
#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct TinyShakespeare final : DataSet {
  std::vector<DataSetFile> files() const override {
    return {{"input.txt",
             "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
             "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}};
  }
  std::string source() const override {
    return "Shakespeare, from Karpathy: The Unreasonable Effectiveness of Recurrent Neural Networks. 2015";
  }
  std::string licence() const override { return "public domain text"; }
};

const Registered<DataSet, TinyShakespeare> registered{"tinyshakespeare", "1.1 million characters of plays"};

}  // namespace
}  // namespace attnlab
