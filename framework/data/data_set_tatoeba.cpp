// The German-English test set of the Tatoeba Challenge, v2021-08-07: 17,565 short everyday sentences. It has
// no splits; use `hold_out`.
#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct TatoebaDeuEng final : DataSet {
  std::vector<DataSetFile> files() const override {
    return {{"tatoeba-v2021-08-07.deu",
             "https://raw.githubusercontent.com/Helsinki-NLP/OPUS-MT-testsets/master/testsets/deu-eng/"
             "tatoeba-test-v2021-08-07.deu",
             "a06d3300c05158e83bb5c1709a0bf5aecc2e28c895e66f03b1c914a7fdd8c8c6"},
            {"tatoeba-v2021-08-07.eng",
             "https://raw.githubusercontent.com/Helsinki-NLP/OPUS-MT-testsets/master/testsets/deu-eng/"
             "tatoeba-test-v2021-08-07.eng",
             "5d0e3169914a5e3f4ca7bdec670880f2025385c5a7e29547d9cbd7992105e77f"}};
  }
  std::string source() const override {
    return "Tiedemann: The Tatoeba Translation Challenge - Realistic Data Sets for Low Resource and "
           "Multilingual MT. WMT, 2020";
  }
  std::string licence() const override { return "CC BY 2.0 FR (Tatoeba)"; }
};

const Registered<DataSet, TatoebaDeuEng> registered{"tatoeba-deu-eng",
                                                    "everyday sentences, 17,565 in deu, eng"};

}  // namespace
}  // namespace attnlab
