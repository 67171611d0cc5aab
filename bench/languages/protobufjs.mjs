// protobufjs with its extension for ProtoJSON; types reflected from the .proto file (it brings google's own).
import { main } from "./pool.mjs";

main((require, schema, type) => {
  const protobuf = require("protobufjs");
  const { fromJsonString, toJsonString } = require("protobufjs/ext/protojson.js");
  const message = protobuf.loadSync([`${schema}.proto`, "google/protobuf/struct.proto"]).resolveAll().lookupType(type);
  return {
    version: require("./node_modules/protobufjs/package.json").version,
    fromBinary: (bytes) => message.decode(bytes),
    toBinary: (value) => message.encode(value).finish(),
    fromJson: (text) => fromJsonString(message, text),
    toJson: (value) => toJsonString(message, value),
  };
});
