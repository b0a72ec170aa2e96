// Tasks that want labels of whole examples: what they ask, their splits, their baselines.
#include <cmath>
#include <numeric>
#include <set>

#include "config/error.h"
#include "config/spec.h"
#include "core/error.h"
#include "data/files.h"
#include "data/images.h"
#include "data/labels.h"
#include "data/list_ops.h"
#include "data/task_spec.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

Task load(const std::string& yaml, const std::string& root = "none") {
  DataSpec spec;
  read_spec(Tree::parse("task: " + yaml + "\nroot: " + root), spec);
  return spec.load();
}

std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                       const std::string& bytes) {
  return big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width) + bytes;
}
std::string idx_labels(std::uint32_t count, const std::string& bytes) {
  return big_endian(0x801) + big_endian(count) + bytes;
}

double baseline(const Task& task, const std::string& name) {
  for (const TrivialBaseline& item : task.baselines)
    if (item.name == name) return item.score;
  FAIL("no baseline " << name);
  return 0;
}

ListExpression list(int operation, const std::vector<int>& digits) {
  ListExpression result;
  result.operation = operation;
  for (const int digit : digits) result.arguments.push_back({-1, digit, {}});
  return result;
}

}  // namespace

TEST_CASE("bit_xor: right labels, held-out inputs, the whole space covered") {
  const Task task = load("{kind: bit_xor, bits: 5, train: 4000}");
  std::set<std::vector<float>> train, held_out;
  const auto check = [](const Corpus& corpus, std::set<std::vector<float>>& seen) {
    for (const Example& example : corpus.examples) {
      REQUIRE(example.vectors.size() == 10);
      REQUIRE(example.source_rows() == 10);
      for (std::size_t i = 0; i < 5; ++i)
        REQUIRE(example.target[i + 1] == (example.vectors[i] != example.vectors[i + 5] ? 1 : 0));
      seen.insert(example.vectors);
    }
  };
  check(task.train, train);
  check(task.valid, held_out);
  check(task.tests[0].corpus, held_out);
  CHECK(task.valid.examples.size() + task.tests[0].corpus.examples.size() == held_out.size());
  CHECK(held_out.size() > 220);
  CHECK(train.size() > 700);
  for (const auto& input : held_out) CHECK(train.count(input) == 0);
  CHECK(baseline(task, "majority") == Approx(0.5).margin(0.06));
  CHECK(task.labels == 5);
  CHECK(task.label_rows == 5);
  CHECK(task.tests[0].corpus.references[0].size() == 9);
}

TEST_CASE("bit_xor: the splits of the studies are the first held-out inputs in a drawn order") {
  const Random order(1, stream_name("data.bit_xor.held_out_order")),
      held_out(1, stream_name("data.bit_xor.held_out"));
  for (const auto& [bits, each] : {std::pair<Index, Index>{5, 128}, {6, 400}}) {
    const Task task =
        load(join_text("{kind: bit_xor, train: 10, bits: ", bits, ", valid: ", each, ", test: ", each, "}"));
    std::vector<std::vector<float>> expected, found;
    for (const Index code : order.permutation(Index{1} << 2 * bits)) {
      if (held_out.uniform(static_cast<std::uint64_t>(code)) >= 0.25) continue;
      expected.emplace_back();
      for (Index i = 0; i < 2 * bits; ++i) expected.back().push_back(static_cast<float>(code >> i & 1));
    }
    REQUIRE(static_cast<Index>(expected.size()) > 2 * each);
    expected.resize(static_cast<std::size_t>(2 * each));
    CHECK(static_cast<Index>(task.valid.examples.size()) == each);
    for (const Corpus* corpus : {&task.valid, &task.tests[0].corpus})
      for (const Example& example : corpus->examples) found.push_back(example.vectors);
    CHECK(found == expected);
  }
}

TEST_CASE("bit_xor: validation and test share what is held out where it is too little for both") {
  for (const Index bits : {3, 4}) {
    const Task task = load(join_text("{kind: bit_xor, train: 100, bits: ", bits, "}"));
    const auto valid = static_cast<double>(task.valid.examples.size());
    const auto test = static_cast<double>(task.tests[0].corpus.examples.size());
    CHECK(valid == Approx(test).margin(1));
    CHECK(valid > 4);
  }
  const Task uneven = load("{kind: bit_xor, train: 100, bits: 4, valid: 1000, test: 1}");
  CHECK(uneven.tests[0].corpus.examples.size() == 1);
  CHECK(uneven.valid.examples.size() > 30);
  const auto error_of = [](const std::string& yaml) -> std::string {
    try {
      load(yaml);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(error_of("{kind: bit_xor, held_out: 0}").find("data.task.held_out: 0 holds out 0 of 1024") == 0);
  CHECK(error_of("{kind: bit_xor, bits: 12, held_out: 1e-12}").find("data.task.held_out: ") == 0);
}

TEST_CASE("bit_xor: no input comes twice among validation and test, however many there are") {
  const Task task = load("{kind: bit_xor, bits: 9, train: 10, valid: 2000, test: 2000}");
  std::set<std::vector<float>> different;
  for (const Corpus* corpus : {&task.valid, &task.tests[0].corpus}) {
    CHECK(corpus->examples.size() == 2000);
    for (const Example& example : corpus->examples) different.insert(example.vectors);
  }
  CHECK(different.size() == 4000);
}

TEST_CASE("bit_memory: the labels are a shown pattern, the query agrees with it where it is not masked") {
  const Task task =
      load("{kind: bit_memory, patterns: 3, bits: 20, patch: 5, train: 300, valid: 20, test: 200}");
  double hidden = 0;
  for (const Example& example : task.train.examples) {
    REQUIRE(example.vectors.size() == 80);
    REQUIRE(example.source_rows() == 16);
    bool found = false;
    for (std::size_t p = 0; p < 3; ++p) {
      bool same = true;
      for (std::size_t i = 0; i < 20; ++i)
        same = same && (example.vectors[p * 20 + i] > 0) == (example.target[i + 1] == 1);
      found = found || same;
    }
    REQUIRE(found);
    for (std::size_t i = 0; i < 20; ++i) {
      const float shown = example.vectors[60 + i];
      hidden += shown == 0 ? 1 : 0;
      REQUIRE((shown == 0 || (shown > 0) == (example.target[i + 1] == 1)));
    }
  }
  CHECK(hidden / (300 * 20) == Approx(0.5).margin(0.03));
  CHECK(baseline(task, "copy what is shown") == 0.75);
  CHECK(task.label_rows == 4);
}

TEST_CASE("list_ops: values, texts and lengths") {
  CHECK(list(0, {3, 1, 4}).value() == 1);
  CHECK(list(1, {3, 1, 4}).value() == 4);
  CHECK(list(2, {3, 1, 4}).value() == 3);
  CHECK(list(2, {3, 8}).value() == 5);  // 5.5 without its fraction
  CHECK(list(2, {9, 1, 4, 3}).value() == 3);
  CHECK(list(3, {9, 8, 5}).value() == 2);
  ListExpression nested = list(1, {2, 9});
  nested.arguments.push_back(list(0, {4, 7}));
  CHECK(nested.text() == "[MAX 2 9 [MIN 4 7 ] ]");
  CHECK(nested.length() == 8);
  CHECK(nested.value() == 9);
}

TEST_CASE("list_ops: splits differ, baselines rise with what they look at") {
  const Task task = load("{kind: list_ops, train: 4000, valid: 100, test: 500}");
  std::set<std::string> all;
  for (const Corpus* corpus : {&task.train, &task.valid, &task.tests[0].corpus})
    for (const auto& text : corpus->sources) all.insert(text);
  CHECK(all.size() == 4600);
  const Example& example = task.train.examples[0];
  CHECK(task.source->decode(example.source) == task.train.sources[0]);
  CHECK(example.source.front() == task.source->bos());
  CHECK(example.source.back() == task.source->eos());
  CHECK(baseline(task, "majority") < baseline(task, "root operator"));
  CHECK(baseline(task, "root operator") < baseline(task, "root operator and its digits"));
  const Task released = load("{kind: list_ops, mode: as_released, train: 50, valid: 5, test: 5}");
  const Token bracket = released.source->encode("]").front();
  for (const Example& item : released.train.examples)
    CHECK(std::find(item.source.begin(), item.source.end(), bracket) == item.source.end());
}

TEST_CASE("list_ops by the rule of the Long Range Arena has its published baselines", "[slow]") {
  const Task task = load(
      "{kind: list_ops, max_depth: 10, max_arguments: 10, min_length: 501, max_length: 1999, train: 1500, "
      "valid: 1, "
      "test: 1500}");
  CHECK(baseline(task, "majority") == Approx(0.17).margin(0.03));
  CHECK(baseline(task, "root operator") == Approx(0.361).margin(0.045));
  double length = 0;
  for (const Example& example : task.train.examples) length += static_cast<double>(example.source.size());
  CHECK(length / 1500 == Approx(1000).margin(150));
}

TEST_CASE("associative_recall: a label is the value after the key that is asked for; splits differ") {
  const Task task = load(
      "{kind: associative_recall, keys: 6, values: 3, min_pairs: 2, max_pairs: 5, queries: 2, train: 900, "
      "valid: 50, test: 300}");
  std::set<std::string> all;
  std::set<std::size_t> lengths;
  for (const Corpus* corpus : {&task.train, &task.valid, &task.tests[0].corpus})
    for (std::size_t i = 0; i < corpus->examples.size(); ++i) {
      all.insert(corpus->sources[i]);
      const Example& example = corpus->examples[i];
      lengths.insert(example.source.size());
      const std::size_t pairs = (example.source.size() - 2) / 2;
      std::string answers;
      for (std::size_t q = 0; q < 2; ++q) {
        std::size_t found = 0;
        for (std::size_t p = 0; p < pairs; ++p)
          if (example.source[2 * p] == example.source[2 * pairs + q]) {
            answers += task.source->piece(example.source[2 * p + 1]) + " ";
            ++found;
          }
        REQUIRE(found == 1);
      }
      CHECK(answers == corpus->references[i] + " ");
      CHECK(task.target->decode({&example.target[1], 2}) == corpus->references[i]);
    }
  CHECK(all.size() == 1250);
  CHECK(lengths == std::set<std::size_t>{6, 8, 10, 12});
  CHECK(task.label_rows == 2);
  CHECK(baseline(task, "majority") == Approx(1.0 / 3).margin(0.1));
  CHECK(baseline(task, "most frequent value shown") > baseline(task, "majority"));
  CHECK_THROWS_AS(load("{kind: associative_recall, keys: 1, values: 2, min_pairs: 1, max_pairs: 1}"),
                  DataError);
  CHECK_THROWS_AS(load("{kind: associative_recall, keys: 3, max_pairs: 4}"), ConfigError);
}

TEST_CASE("IDX files: read, and refused where header and size disagree") {
  const Images images =
      parse_idx(idx_images(2, 2, 3, "abcdefghijkl"), idx_labels(2, std::string("\x01\x07")), "x");
  CHECK(images.count() == 2);
  CHECK(images.width == 3);
  CHECK(images.pixels[7] == 'h');
  CHECK(images.labels[1] == 7);
  const auto refused = [](const std::string& pixels, const std::string& labels) {
    CHECK_THROWS_AS(parse_idx(pixels, labels, "x"), DataError);
  };
  const std::string labels = idx_labels(2, std::string("\x01\x07"));
  refused("", labels);
  refused("PK\x03\x04 and so on", labels);
  refused(idx_images(2, 2, 3, "abcdefghijk"), labels);
  refused(idx_images(2, 2, 3, "abcdefghijklm"), labels);
  refused(idx_images(0xffffffff, 0xffffffff, 0xffffffff, "abc"), labels);
  refused(idx_images(0x10000, 0x10000, 0x10000, ""), labels);
  refused(idx_images(3, 2, 2, "abcdefghijkl"), labels);
  refused(idx_images(2, 0, 3, ""), labels);  // no pixels
  refused(idx_images(2, 3, 0, ""), labels);
  refused(labels, idx_images(2, 2, 3, "abcdefghijkl"));
}

TEST_CASE("CIFAR-10 records: planes become pixels, damage is refused") {
  std::string record(3073, '\0');
  record[0] = 5;
  record[1] = 10;             // red of the first pixel
  record[1 + 1024] = 20;      // green
  record[1 + 2 * 1024] = 30;  // blue
  const Images images = parse_cifar10(record + record, "x");
  CHECK(images.count() == 2);
  CHECK(std::vector<int>(images.pixels.begin(), images.pixels.begin() + 3) == std::vector<int>{10, 20, 30});
  CHECK(static_cast<int>(grey(images).pixels[0]) == 18);  // 2.99 + 11.74 + 3.42
  CHECK_THROWS_AS(parse_cifar10("", "x"), DataError);
  CHECK_THROWS_AS(parse_cifar10(record.substr(1), "x"), DataError);
  record[0] = 10;
  CHECK_THROWS_AS(parse_cifar10(record, "x"), DataError);
}

TEST_CASE("patches: rows from left to right, pixels line by line") {
  std::string bytes(16, '\0');
  std::iota(bytes.begin(), bytes.end(), 0);
  const Images images = parse_idx(idx_images(1, 4, 4, bytes), idx_labels(1, "\x01"), "x");
  const Patches patches(images, 2);
  CHECK(patches.rows() == 4);
  CHECK(patches.width() == 4);
  std::vector<int> pixels;
  for (const float number : patches.of(images, 0))
    pixels.push_back(static_cast<int>(std::lround((number * 0.5F + 0.5F) * 255)));
  CHECK(pixels == std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15});
  CHECK_THROWS_AS(Patches(images, 3), ConfigError);  // the files are what they should be
}

TEST_CASE(
    "changes of training images: shifts, flips and turns move pixels, and are the same for the same draw") {
  const Images images = parse_idx(idx_images(1, 4, 4, std::string(5, '\0') + "\xff" + std::string(10, '\0')),
                                  idx_labels(1, "\x01"), "x");
  const Patches patches(images, 2);
  const auto lit = [&patches](const std::vector<float>& numbers) {
    std::set<std::pair<Index, Index>> places;
    for (Index y = 0; y < 4; ++y)
      for (Index x = 0; x < 4; ++x)
        if (numbers[static_cast<std::size_t>(patches.place(y, x, 0))] > 0) places.insert({y, x});
    return places;
  };
  const auto seen = [&](const AugmentSpec& spec) {
    std::set<std::set<std::pair<Index, Index>>> all;
    for (std::uint64_t i = 0; i < 60; ++i) {
      std::vector<float> numbers = patches.of(images, 0), again = numbers;
      augmentation(spec, patches)(numbers, Random(1, 2, i));
      augmentation(spec, patches)(again, Random(1, 2, i));
      REQUIRE(numbers == again);
      all.insert(lit(numbers));
    }
    return all;
  };
  CHECK_FALSE(augmentation({}, patches));
  CHECK(seen({.flip = true}) == std::set<std::set<std::pair<Index, Index>>>{{{1, 1}}, {{1, 2}}});
  CHECK(seen({.crop = 1}).size() == 9);
  CHECK(seen({.rotation = 180}).size() > 3);
}

TEST_CASE("images as a task: splits, vectors or symbols") {
  const ScratchFolder scratch;
  const auto write = [&scratch](const std::string& part, std::uint32_t count) {
    std::string pixels(count * 16, '\x40'), labels(count, '\0');
    for (std::uint32_t i = 0; i < count; ++i) labels[i] = static_cast<char>(i % 3);
    write_file(scratch.path() / "mnist" / (part + "-images-idx3-ubyte"), idx_images(count, 4, 4, pixels));
    write_file(scratch.path() / "mnist" / (part + "-labels-idx1-ubyte"), idx_labels(count, labels));
  };
  write("train", 10);
  write("t10k", 6);
  const Task task = load("{kind: mnist, patch: 2, valid_images: 4, test_images: 5}", scratch.path().string());
  CHECK(task.train.examples.size() == 6);
  CHECK(task.valid.examples.size() == 4);
  CHECK(task.tests[0].corpus.examples.size() == 5);
  CHECK(task.vector_width == 4);
  CHECK(task.train.examples[4].target == std::vector<Token>{0, 1});
  CHECK(task.valid.references[0] == "0");
  const Task symbols = load("{kind: mnist, symbols: true, valid_images: 4}", scratch.path().string());
  CHECK(symbols.train.examples[0].source.size() == 16);
  CHECK(symbols.source->piece(symbols.train.examples[0].source[3]) == "64");
  CHECK_THROWS_AS(load("{kind: mnist, valid_images: 10}", scratch.path().string()), DataError);
  CHECK_THROWS_AS(load("{kind: mnist, patch: 3, valid_images: 4}", scratch.path().string()), ConfigError);
  // Test images of another size.
  write_file(scratch.path() / "mnist" / "t10k-images-idx3-ubyte",
             idx_images(6, 8, 4, std::string(6 * 32, '\x40')));
  for (const char* form : {"patch: 2", "symbols: true"})
    CHECK_THROWS_AS(load(join_text("{kind: mnist, valid_images: 4, ", form, "}"), scratch.path().string()),
                    DataError);
}

TEST_CASE("tasks of images without any for the test are refused") {
  for (const char* key : {"train", "test"})
    CHECK_THROWS_AS(load(join_text("{kind: cifar10, ", key, ": []}")), ConfigError);
  const ScratchFolder scratch;
  const auto put = [&scratch](const std::string& name, const std::string& bytes) {
    write_file(scratch.path() / "mnist" / name, bytes);
  };
  put("train-images-idx3-ubyte", idx_images(2, 1, 1, "ab"));
  put("train-labels-idx1-ubyte", idx_labels(2, "\x01\x02"));
  put("t10k-images-idx3-ubyte", idx_images(0, 1, 1, ""));
  put("t10k-labels-idx1-ubyte", idx_labels(0, ""));
  CHECK_THROWS_AS(load("{kind: mnist, patch: 1, valid_images: 1}", scratch.path().string()), DataError);
}

TEST_CASE("labels have no special entries") {
  const Labels labels({"no", "yes"});
  CHECK(labels.size() == 2);
  CHECK(labels.encode("yes") == std::vector<Token>{1});
  CHECK(labels.decode(std::vector<Token>{1, 0}) == "yes no");
  CHECK(Labels::parse(labels.serialized()).serialized() == labels.serialized());
  CHECK_THROWS_AS(labels.encode("perhaps"), DataError);
  CHECK_THROWS_AS(Labels({"a", "a"}), DataError);
  CHECK_THROWS_AS(Labels::parse("something"), DataError);
}
