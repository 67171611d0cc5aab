// What the programs for node have in common. Each is started as
//
//     node PROGRAM stream|time PACKAGES SCHEMA TYPE encode|decode INPUT SECONDS
//
// INPUT is a pool as `bench --write-pool` writes it: binary messages behind their lengths to encode, JSON lines to decode.
// `stream` writes the other form to standard output. `time` keeps all in memory, works for SECONDS to get warm, then times
// passes over the pool for as long (three at least), and prints {"messages", "passes", "median_ns", "min_ns", "version"};
// times are of a message.
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

function* delimited(bytes) {
  for (let at = 0; at < bytes.length;) {
    let size = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      size += (byte & 127) * shift;
      if (byte < 128) break;
    }
    yield bytes.subarray(at, (at += size));
  }
}

function lengthOf(bytes) {
  const out = [];
  let size = bytes.length;
  for (; size >= 128; size = Math.floor(size / 128)) out.push((size % 128) | 128);
  return Buffer.from([...out, size]);
}

function writeAll(parts) {
  const bytes = Buffer.concat(parts);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

function stream(codec, encode, input) {
  const out = [];
  if (encode) {
    for (const bytes of delimited(input)) out.push(Buffer.from(codec.toJson(codec.fromBinary(bytes)) + "\n"));
  } else {
    for (const line of input.toString().trimEnd().split("\n")) {
      const bytes = codec.toBinary(codec.fromJson(line));
      out.push(lengthOf(bytes), bytes);
    }
  }
  writeAll(out);
}

let sink; // what is made must look needed

function pass(operation, items) {
  const start = process.hrtime.bigint();
  for (const item of items) sink = operation(item);
  return Number(process.hrtime.bigint() - start) / items.length;
}

function passes(operation, items, least, seconds) {
  const end = performance.now() + seconds * 1000;
  const times = [];
  while (times.length < least || performance.now() < end) times.push(pass(operation, items));
  return times.sort((a, b) => a - b);
}

function time(codec, encode, input, seconds) {
  const items = encode ? [...delimited(input)].map(codec.fromBinary) : input.toString().trimEnd().split("\n");
  const operation = encode ? codec.toJson : codec.fromJson;
  passes(operation, items, 1, seconds);
  const times = passes(operation, items, 3, seconds);
  console.log(JSON.stringify({ messages: items.length, passes: times.length, median_ns: times[times.length >> 1],
    min_ns: times[0], version: `${codec.version}, node ${process.versions.node}` }));
}

// `open(require, schema, type)`: a codec, with `require` for the unpacked packages.
export function main(open) {
  const [mode, packages, schema, type, direction, input, seconds] = process.argv.slice(2);
  const codec = open(createRequire(`${packages}/`), schema, type);
  const bytes = readFileSync(input);
  if (mode === "stream") stream(codec, direction === "encode", bytes);
  else time(codec, direction === "encode", bytes, Number(seconds));
}
