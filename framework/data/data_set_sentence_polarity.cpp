// Sentence polarity v1.0: 10,662 sentences of film reviews, praise or not (Pang and Lee 2005), in UTF-8 as
// NLTK distributes them.
#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct SentencePolarity final : DataSet {
  std::vector<DataSetFile> files() const override {
    static const std::string url =
        "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/sentence_polarity.zip";
    return {{.name = "rt-polarity.neg",
             .url = url,
             .sha256 = "614274f81185a850e5a88d533d4679f916d6f62e9af6f0b4ec71fb94bf466ea5",
             .member = "sentence_polarity/rt-polarity.neg"},
            {.name = "rt-polarity.pos",
             .url = url,
             .sha256 = "c2dc6b2f55bcf725725372916287cc3f8f9b19402edaa9167de5287cb3ade421",
             .member = "sentence_polarity/rt-polarity.pos"}};
  }
  std::string source() const override {
    return "Pang, Lee: Seeing Stars: Exploiting Class Relationships for Sentiment Categorization. ACL, 2005";
  }
  std::string licence() const override { return "CC BY 4.0, as NLTK's index states"; }
};

const Registered<DataSet, SentencePolarity> registered{"sentence-polarity",
                                                       "10,662 sentences of film reviews, praise or not"};

}  // namespace
}  // namespace attnlab
