import assert from "node:assert/strict";
import { proxied, proxyEnvironment } from "./proxied.ts";

Deno.test("the forwarder opens ports of this machine, and programs use the proxy for those that it cannot open", () => {
  for (
    const [hosts, opened, direct] of [
      [["localhost:5432"], "'localhost:5432'", "127.0.0.1,localhost,::1"],
      [["127.0.0.1:5432", "[::1]:08080"], "'127.0.0.1:5432' '[::1]:8080'", "127.0.0.1,localhost,::1"],
      [["localhost"], "", "127.0.0.1,::1"],
      [["localhost:80"], "", "127.0.0.1,::1"],
      // The forwarder has this port.
      [["localhost:3128", "localhost:5432"], "'localhost:5432'", "127.0.0.1,::1"],
      [["*.localhost:5432"], "", "127.0.0.1,::1"],
      [["!localhost:5432", "*:5432", "a.test:5432"], "", "127.0.0.1,localhost,::1"],
    ] as const
  ) {
    assert.equal(proxyEnvironment(hosts).NO_PROXY, direct, hosts.join());
    const [, , script = ""] = proxied([], "/socket", "/bin/bash", hosts).arguments;
    assert.equal(/ 3128 ?(.*) <\/dev\/null/.exec(script)?.[1], opened, hosts.join());
  }
});
