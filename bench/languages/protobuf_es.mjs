// @bufbuild/protobuf: types from a FileDescriptorSet. Its generated code is such descriptors too, so this is as fast.
import { readFileSync } from "node:fs";
import { main } from "./pool.mjs";

main((require, schema, type) => {
  const { createFileRegistry, fromBinary, fromJsonString, toBinary, toJsonString } = require("@bufbuild/protobuf");
  const { FileDescriptorSetSchema } = require("@bufbuild/protobuf/wkt");
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(`${schema}.binpb`)));
  const message = registry.getMessage(type);
  const options = { registry };
  return {
    version: require("./node_modules/@bufbuild/protobuf/package.json").version,
    fromBinary: (bytes) => fromBinary(message, bytes),
    toBinary: (value) => toBinary(message, value),
    fromJson: (text) => fromJsonString(message, text, options),
    toJson: (value) => toJsonString(message, value, options),
  };
});
