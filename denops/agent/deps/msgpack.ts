export * from "npm:@msgpack/msgpack@3.1.3";
