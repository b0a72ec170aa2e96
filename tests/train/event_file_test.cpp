// Event files against the formats' own definitions and against bytes that TensorFlow's reader accepts.
#include "train/event_file.h"

#include "data/files.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

}  // namespace

TEST_CASE("CRC-32C of the examples in RFC 3720") {
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("") == 0);
}

// The bytes that the tensorboard package (2.x) writes for the same events.
TEST_CASE("records of events, byte for byte") {
  CHECK(hex(tf_record(version_event(1700000000.5))) ==
        "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110");
  CHECK(hex(tf_record(scalars_event(1700000001.25, 300, {{"train/loss", 2.5}, {"valid/nll", -0.1}}))) ==
        "33000000000000000ca720560900005040fc54d94110ac022a250a110a0a747261696e2f6c6f737315000020400a100a0976"
        "616c69"
        "642f6e6c6c15cdccccbd713c24b0");
  CHECK(hex(tf_record(restart_event(1700000002.0, 7))) ==
        "0f000000000000006d532b090900008040fc54d94110073a020801d1e17c88");
}

TEST_CASE("an event file begins with its version; a run that goes on says from where") {
  const ScratchFolder scratch;
  for (const std::int64_t first : {1, 8}) {
    const auto folder = scratch.path() / std::to_string(first);
    EventFile events(folder, first);
    events.write(
        {{"step", std::int64_t{9}}, {"loss", 1.5}, {"valid_bleu", 20.0}, {"note", std::string("no number")}});
    const auto file = std::filesystem::directory_iterator(folder)->path();
    CHECK(file.filename().string().rfind("events.out.tfevents.", 0) == 0);
    const std::string bytes = read_bytes(file);
    CHECK(bytes.find("brain.Event:2") != std::string::npos);
    CHECK(bytes.find("train/loss") != std::string::npos);
    CHECK(bytes.find("valid/bleu") != std::string::npos);
    CHECK(bytes.find("note") == std::string::npos);
    CHECK((bytes.find(std::string("\x3a\x02\x08\x01", 4)) != std::string::npos) == (first > 1));
  }
}
