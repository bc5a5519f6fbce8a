// By its file: the package names its CommonJS build, and loading one loads most of Node's modules with it.
// @ts-types="npm:@msgpack/msgpack@3.1.3"
export * from "npm:@msgpack/msgpack@3.1.3/dist.esm/index.mjs";
