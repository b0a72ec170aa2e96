// The .npz writer against the format's own rules; tests/system reads its files with NumPy.
#include "study/npz.h"

#include "data/files.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

std::uint32_t number(const std::string& bytes, std::size_t at, int width) {
  std::uint32_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]))
             << (8 * i);
  return value;
}

}  // namespace

TEST_CASE("an .npz file is a zip archive with one entry an array") {
  const ScratchFolder scratch;
  const auto path = scratch.path() / "deep" / "a.npz";
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  write_npz(path, {{"x", Tensor::from({2, 3}, DType::f32, values)},
                   {"empty", Tensor({0, 3}, DType::f64)},
                   {"half", Tensor::from({6}, DType::bf16, values)}});
  const std::string bytes = read_bytes(path);
  REQUIRE(bytes.substr(0, 4) == "PK\x03\x04");
  const std::size_t end = bytes.size() - 22;
  REQUIRE(bytes.substr(end, 4) == "PK\x05\x06");
  CHECK(number(bytes, end + 10, 2) == 3);
  const std::uint32_t size = number(bytes, end + 12, 4), offset = number(bytes, end + 16, 4);
  CHECK(offset + size == end);
  CHECK(bytes.substr(offset, 4) == "PK\x01\x02");
  CHECK(bytes.substr(offset + 46, 5) == "x.npy");
}
