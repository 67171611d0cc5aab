// The process behind the peer cpp: reads requests (remote.h) from standard input, uses the JSON codec of C++ protobuf on
// generated messages, replies on standard output. peer_cpp.c starts it.
//
// The memory is what all peers get: an arena over one block that each message read starts anew, a string that is printed
// into again and again. What the library takes from malloc in spite of that is part of its time.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/json/json.h>
#include <google/protobuf/message.h>

#include "corpus.pb.h"
#include "remote.h"

namespace {

namespace protobuf = google::protobuf;

constexpr size_t kBlockSize = 16 << 20;

struct Case {
  const protobuf::Message *prototype;
  std::unique_ptr<protobuf::Arena> arena; // of the messages to print
  std::vector<const protobuf::Message *> messages;
  std::vector<std::string> texts;
  std::unique_ptr<char[]> block; // of a message that is read
  std::string output;
};

[[noreturn]] void Die(const char *what) {
  std::fprintf(stderr, "cpp_process: %s\n", what);
  std::exit(1);
}

// -- Operations ---------------------------------------------------------------------------------------------

bool Print(Case *c, size_t index) {
  c->output.clear();
  return protobuf::json::MessageToJsonString(*c->messages[index], &c->output).ok();
}

protobuf::ArenaOptions OptionsOver(const Case *c) {
  protobuf::ArenaOptions options;
  options.initial_block = c->block.get();
  options.initial_block_size = kBlockSize;
  return options;
}

bool Read(Case *c, std::string_view text, std::string *binary) {
  protobuf::Arena arena(OptionsOver(c));
  protobuf::Message *message = c->prototype->New(&arena);
  bool ok = protobuf::json::JsonStringToMessage(text, message).ok();
  return ok && (binary == nullptr || message->SerializeToString(binary));
}

extern "C" bool EncodeAll(void *opaque, size_t first, size_t count) {
  bool ok = true;
  for (size_t i = first; i < first + count; i++) ok &= Print(static_cast<Case *>(opaque), i);
  return ok;
}

extern "C" bool DecodeAll(void *opaque, size_t first, size_t count) {
  Case *c = static_cast<Case *>(opaque);
  bool ok = true;
  for (size_t i = first; i < first + count; i++) ok &= Read(c, c->texts[i], nullptr);
  return ok;
}

// -- Requests -----------------------------------------------------------------------------------------------

void ReadBytes(void *data, size_t size) {
  if (std::fread(data, 1, size, stdin) != size) Die("a request is cut short");
}

std::string ReadString(size_t size) {
  std::string text(size, 0);
  ReadBytes(text.data(), size);
  return text;
}

std::string ReadSized() {
  size_t size;
  ReadBytes(&size, sizeof size);
  return ReadString(size);
}

const protobuf::Message *Prototype(const char *type) {
  const auto *descriptor = protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  if (descriptor == nullptr) Die("no such type");
  return protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
}

void Open(Case *c, size_t count, const std::string &type) {
  *c = Case{Prototype(type.c_str()), std::make_unique<protobuf::Arena>(), {}, {}, nullptr, {}};
  c->block = std::make_unique<char[]>(kBlockSize);
  for (size_t i = 0; i < count; i++) {
    protobuf::Message *message = c->prototype->New(c->arena.get());
    if (!message->ParseFromString(ReadSized())) Die("a message cannot be parsed");
    c->messages.push_back(message);
    c->texts.push_back(ReadSized());
  }
}

remote_reply Answer(Case *c, const remote_request &request, std::string *bytes) {
  remote_reply reply = {};
  std::string given = ReadString(request.bytes);
  bench_operation *operation = request.decode ? DecodeAll : EncodeAll;
  switch (request.command) {
    case REMOTE_OPEN:
      Open(c, request.number, given);
      reply.ok = true;
      break;
    case REMOTE_ENCODE:
      reply.ok = Print(c, request.number);
      *bytes = c->output;
      break;
    case REMOTE_DECODE: reply.ok = Read(c, given, bytes); break;
    case REMOTE_CUT:
      reply.slices = bench_slices_cut(operation, c, c->messages.size(), request.batch_ns);
      reply.ok = reply.slices.passes > 0;
      break;
    case REMOTE_TIME:
      reply.ns = bench_slices_time(operation, c, c->messages.size(), &request.slices, &reply.retaken);
      reply.ok = reply.ns >= 0;
      break;
  }
  reply.bytes = bytes->size();
  return reply;
}

} // namespace

int main() {
  Case c = {};
  remote_request request;
  // Without a request there is nothing left to do.
  while (std::fread(&request, sizeof request, 1, stdin) == 1) {
    std::string bytes;
    remote_reply reply = Answer(&c, request, &bytes);
    std::fwrite(&reply, sizeof reply, 1, stdout);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    if (std::fflush(stdout) != 0) return 1;
  }
}
