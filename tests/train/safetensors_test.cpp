#include "train/safetensors.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "support/catch.h"
#include "support/scratch.h"
#include "train/half.h"

using namespace attnlab;

namespace {

std::string read_all(const std::filesystem::path& path) { return read_small_file(path); }

void write_all(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A file with this header text and so many zero bytes of data.
std::string file_bytes(const std::string& header, std::size_t data) {
  const std::uint64_t size = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &size, 8);
  return bytes + header + std::string(data, '\0');
}

std::string error_of(const std::string& bytes) {
  const ScratchFolder folder;
  write_all(folder.path() / "x", bytes);
  try {
    const SafetensorsFile file(folder.path() / "x");
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{}]}})", name, type, shape, offsets);
}

}  // namespace

TEST_CASE("halves convert exactly and round to nearest even") {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      REQUIRE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      REQUIRE(float_to_half(value) == bits);
    }
  }
  CHECK(half_to_float(0x3c00) == 1.0F);
  CHECK(half_to_float(0x0001) == std::ldexp(1.0F, -24));
  CHECK(half_to_float(0x7bff) == 65504.0F);
  CHECK(float_to_half(65519.0F) == 0x7bff);
  CHECK(float_to_half(65520.0F) == 0x7c00);
  CHECK(float_to_half(1.0F + 0x1p-11F) == 0x3c00);  // a tie: to even
  CHECK(float_to_half(1.0F + 0x3p-11F) == 0x3c02);
  CHECK(float_to_half(0x1p-25F) == 0);
  CHECK(float_to_half(0x1.8p-25F) == 1);
}

TEST_CASE("safetensors: what was written is read back") {
  const ScratchFolder folder;
  const auto path = folder.path() / "t.safetensors";
  const std::vector<double> numbers{1.5, -2, 0.25, 1e-3, 7, 8};
  const Tensor f64 = Tensor::from({2, 3}, DType::f64, numbers), f32 = f64.converted(DType::f32);
  const Tensor bf16 = f64.converted(DType::bf16),
               scalar = Tensor::from({}, DType::f32, std::vector<double>{3.0});
  const Tensor wide = Tensor::from({2, 4}, DType::f32, std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
  const FileDigest digest = write_safetensors(path,
                                              {{"a.f64", f64},
                                               {"b.f32", f32},
                                               {"c.bf16", bf16},
                                               {"scalar", scalar},
                                               {"empty", Tensor({0, 4}, DType::f32)},
                                               {"strided", wide.column_view(1, 2)}},
                                              {{"format", "pt"}});
  CHECK(digest == digest_of(path));
  SafetensorsFile file(path);
  REQUIRE(file.entries().size() == 6);
  CHECK(file.metadata().at("format") == "pt");
  CHECK(file.find("nothing") == nullptr);
  CHECK(file.read(*file.find("a.f64"), DType::f64).to_doubles() == numbers);
  CHECK(file.read(*file.find("b.f32"), DType::f32).to_doubles() == f32.to_doubles());
  CHECK(file.read(*file.find("c.bf16"), DType::f32).to_doubles() == bf16.to_doubles());
  CHECK(file.read(*file.find("a.f64"), DType::bf16).to_doubles() == bf16.to_doubles());
  CHECK(file.read(*file.find("scalar"), DType::f64).to_doubles() == std::vector<double>{3.0});
  CHECK(file.find("empty")->count() == 0);
  CHECK(file.read(*file.find("strided"), DType::f64).to_doubles() == std::vector<double>{1, 2, 5, 6});
  CHECK_THROWS_AS(file.read(*file.find("a.f64"), Tensor({3, 2}, DType::f64)), IoError);
  const std::string bytes = read_all(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  CHECK(header % 8 == 0);
}

TEST_CASE("safetensors: halves and whole numbers of other programs") {
  const ScratchFolder folder;
  std::string bytes =
      file_bytes("{" + entry("h", "F16", "2", "0,4") + "," + entry("i", "I64", "1", "4,12") + "}  ", 0);
  const std::uint16_t halves[] = {0x3c00, 0xc000};
  const std::int64_t number = -(1LL << 60) + 1;
  bytes.append(reinterpret_cast<const char*>(halves), 4).append(reinterpret_cast<const char*>(&number), 8);
  write_all(folder.path() / "x", bytes);
  SafetensorsFile file(folder.path() / "x");
  CHECK(file.read(*file.find("h"), DType::f32).to_doubles() == std::vector<double>{1, -2});
  CHECK(file.read_integers(*file.find("i")) == std::vector<std::int64_t>{number});
  CHECK_THROWS_AS(file.read_integers(*file.find("h")), IoError);
}

TEST_CASE("safetensors: hostile headers are refused by name") {
  const std::string good = entry("a", "F32", "2", "0,8");
  CHECK(error_of(file_bytes(fmt::format("{{{}}}", good), 8)).empty());
  CHECK(error_of(file_bytes("{}", 0)).empty());
  const auto refused = [](const std::string& header, std::size_t data, const std::string& why) {
    const std::string error = error_of(file_bytes(header, data));
    INFO(header << " gave: " << error);
    CHECK(error.find(why) != std::string::npos);
  };
  refused(fmt::format("[{}]", good), 8, "not JSON");
  refused(fmt::format("{{{}", good), 8, "not valid JSON");
  refused(fmt::format("{{{}}}", good), 7, "promises 8");
  refused(fmt::format("{{{}}}", good), 9, "promises 8");
  refused(fmt::format("{{{},{}}}", good, good), 8, "two tensors are named 'a'");
  refused(fmt::format("{{{},{}}}", good, entry("b", "F32", "2", "4,12")), 12, "inside the tensor before");
  refused(fmt::format("{{{},{}}}", good, entry("b", "F32", "2", "9,17")), 17, "hole");
  refused(fmt::format("{{{}}}", entry("a", "F32", "3", "0,8")), 8, "do not fit");
  refused(fmt::format("{{{}}}", entry("a", "F32", "2", "8,0")), 8, "do not fit");
  refused(fmt::format("{{{}}}", entry("a", "F32", "4611686018427387904,4611686018427387904", "0,8")), 8,
          "too large");
  refused(fmt::format("{{{}}}", entry("a", "F32", "4611686018427387904,2", "0,0")), 0, "too large");
  refused(fmt::format("{{{}}}", entry("a", "F32", "18446744073709551615", "0,8")), 8, "too large");
  refused(fmt::format("{{{}}}", entry("a", "F32", "-2", "0,8")), 8, "negative");
  refused(fmt::format("{{{}}}", entry("a", "F32", "2.0", "0,8")), 8, "fraction");
  refused(fmt::format("{{{}}}", entry("a", "F33", "2", "0,8")), 8, "unknown element type");
  refused(fmt::format("{{{}}}", entry("a", "F32", "[2]", "0,8")), 8, "unexpected list");
  refused(fmt::format("{{{}}}", entry("a", "F32", "2", "0,8,8")), 8, "two numbers");
  refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "'data_offsets' is missing");
  refused("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "twice");
  refused("{\"a\":{\"x\":1}}", 0, "unknown key");
  refused("{\"a\":3}", 0, "unexpected number");
  refused("{\"a\":\"F32\"}", 0, "unexpected text");
  refused("{\"a\":null}", 0, "null");
  refused("{\"__metadata__\":{\"a\":1}}", 0, "unexpected number");
  refused("{\"__metadata__\":{\"a\":{}}}", 0, "nested");
  refused("{\"" + std::string("\xff\xfe") + "\":{}}", 0, "not valid JSON");
  refused("{\"a\":" + std::string(100000, '[') + "}", 0, "unexpected list");
}

TEST_CASE("safetensors: sizes that lie cost no memory") {
  std::string huge(16, '\0');
  const std::uint64_t size = std::numeric_limits<std::uint64_t>::max() - 3;
  std::memcpy(huge.data(), &size, 8);
  CHECK(error_of(huge).find("cut off") != std::string::npos);
  CHECK(error_of("").find("only 0 bytes") != std::string::npos);
  CHECK(error_of("1234567").find("only 7 bytes") != std::string::npos);
  CHECK_THROWS_AS(SafetensorsFile("/nowhere/at/all"), IoError);
}

TEST_CASE("safetensors: any cut and any flipped header bit is an error or a sound file") {
  const ScratchFolder folder;
  const auto path = folder.path() / "x";
  write_safetensors(path, {{"ab", Tensor::zeros({2, 2}, DType::f32)}, {"c", Tensor::zeros({3}, DType::f64)}},
                    {{"k", "v"}});
  const std::string bytes = read_all(path);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) REQUIRE(!error_of(bytes.substr(0, cut)).empty());
  for (std::size_t at = 0; at < bytes.size() - 40; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      write_all(path, damaged);
      try {
        SafetensorsFile file(path);
        for (const auto& tensor : file.entries()) {
          if (size_of(tensor.type) > 1) REQUIRE(file.read(tensor, DType::f64).count() == tensor.count());
        }
      } catch (const IoError&) {
      }
    }
  }
}
