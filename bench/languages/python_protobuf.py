"""google.protobuf.json_format, with the arguments and the output of pool.mjs (PACKAGES is not used here)."""
import json
import platform
import sys
import time
from pathlib import Path

import google.protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.internal import api_implementation


def delimited(data):
    at = 0
    while at < len(data):
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield data[at:at + size]
        at += size


def length_of(data):
    size, out = len(data), bytearray()
    while size >= 128:
        out.append(size & 127 | 128)
        size >>= 7
    return bytes(out) + bytes([size])


class Codec:
    def __init__(self, schema, name):
        files = descriptor_pb2.FileDescriptorSet.FromString(Path(f"{schema}.binpb").read_bytes())
        self.pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            self.pool.Add(file)
        found = self.pool.FindMessageTypeByName(name)
        if hasattr(message_factory, "GetMessageClass"):
            self.type = message_factory.GetMessageClass(found)
        else:
            self.type = message_factory.MessageFactory(self.pool).GetPrototype(found)

    def from_binary(self, data):
        return self.type.FromString(data)

    def from_json(self, text):
        return json_format.Parse(text, self.type(), descriptor_pool=self.pool)

    def to_json(self, message):
        return json_format.MessageToJson(message, indent=None, descriptor_pool=self.pool)


def passes(operation, items, least, seconds):
    end, times = time.monotonic() + seconds, []
    while len(times) < least or time.monotonic() < end:
        start = time.perf_counter_ns()
        for item in items:
            operation(item)
        times.append((time.perf_counter_ns() - start) / len(items))
    return sorted(times)


def measure(codec, encode, data, seconds):
    items = [codec.from_binary(m) for m in delimited(data)] if encode else data.decode().rstrip("\n").split("\n")
    operation = codec.to_json if encode else codec.from_json
    passes(operation, items, 1, seconds)
    times = passes(operation, items, 3, seconds)
    version = f"{google.protobuf.__version__} ({api_implementation.Type()}), Python {platform.python_version()}"
    print(json.dumps({"messages": len(items), "passes": len(times), "median_ns": times[len(times) // 2],
                      "min_ns": times[0], "version": version}))


def stream(codec, encode, data):
    out = sys.stdout.buffer
    if encode:
        for message in delimited(data):
            out.write(codec.to_json(codec.from_binary(message)).encode() + b"\n")
    else:
        for line in data.decode().rstrip("\n").split("\n"):
            message = codec.from_json(line).SerializeToString()
            out.write(length_of(message) + message)


def main():
    mode, _, schema, name, direction, source, seconds = sys.argv[1:]
    codec, data = Codec(schema, name), Path(source).read_bytes()
    if mode == "stream":
        stream(codec, direction == "encode", data)
    else:
        measure(codec, direction == "encode", data, float(seconds))


if __name__ == "__main__":
    main()
