// Multi30k task 1: 29,000 image captions in English, German and French (Elliott et al. 2016, 2017).
#include <array>

#include "config/registry.h"
#include "data/data_set.h"

namespace attnlab {
namespace {

struct NamedHash {
  const char *name, *sha256;
};
constexpr std::array<NamedHash, 18> kFiles{{
    {"test_2016_flickr.de", "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"},
    {"test_2016_flickr.en", "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"},
    {"test_2016_flickr.fr", "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6"},
    {"test_2017_flickr.de", "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081"},
    {"test_2017_flickr.en", "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98"},
    {"test_2017_flickr.fr", "6f3764e31dac41e9455e612958bcfd4e877c5e15cd66df2c2b2be6d9bd83e5b6"},
    {"test_2017_mscoco.de", "58277df3c75f92f7145a11b910b553d1cf82c439249d4dc237c899609eafac22"},
    {"test_2017_mscoco.en", "43051fdfa86fd5395182e718a94ca67b1b227b9f7c79596ff0f6b813216981d2"},
    {"test_2017_mscoco.fr", "39cde3f43f32b0a6bf29ce4917a46329ff32e53070c2fac87506695a740ae0a0"},
    {"test_2018_flickr.de", "39fcc8b3331d76fb42d648d019c6898b0d5e58baac87bc2a0bb93f44ec8db207"},
    {"test_2018_flickr.en", "4e585c2dd525911a6ea7730e9d0b516239af3f1b1ffae6a2130223cfb639f25e"},
    {"test_2018_flickr.fr", "234b4a887da0da4801a3e2c6f21336231ff7dd46daeb80cfa1b551c8bbb78239"},
    {"train.de", "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"},
    {"train.en", "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"},
    {"train.fr", "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d"},
    {"val.de", "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660"},
    {"val.en", "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227"},
    {"val.fr", "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc"},
}};

struct Multi30k final : DataSet {
  std::vector<DataSetFile> files() const override {
    std::vector<DataSetFile> result;
    for (const NamedHash& file : kFiles) {
      const std::string name = file.name;
      result.push_back(
          {name, "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/" + name + ".gz",
           file.sha256});
    }
    return result;
  }
  std::string source() const override {
    return "Elliott, Frank, Sima'an, Specia: Multi30K: Multilingual English-German Image Descriptions. "
           "Workshop on Vision and Language, 2016";
  }
  std::string licence() const override {
    return "for research; no licence file; the images are non-commercial";
  }
};

const Registered<DataSet, Multi30k> registered{"multi30k", "image captions, 29,000 in en, de, fr"};

}  // namespace
}  // namespace attnlab
