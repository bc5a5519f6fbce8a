import assert from "node:assert/strict";
import { networkEnvironment, proxyFor } from "./network.ts";

Deno.test("the user's exceptions in both spellings stay, and this machine is always one", () => {
  const { NO_PROXY, no_proxy } = networkEnvironment({ NO_PROXY: "a.test, b.test", no_proxy: "c.test" });
  assert.equal(NO_PROXY, "a.test,b.test,c.test,127.0.0.1,localhost,::1,127.0.0.0/8,0.0.0.0");
  assert.equal(no_proxy, NO_PROXY);
  assert.equal(networkEnvironment({}).NO_PROXY, "127.0.0.1,localhost,::1,127.0.0.0/8,0.0.0.0");
});

Deno.test("nothing but what is about the network is passed on; SSL_CERT_FILE needs the system's store", () => {
  const { NO_PROXY: _, no_proxy: __, ...others } = networkEnvironment({
    OPENAI_API_KEY: "sk-1",
    all_proxy: "socks5://a",
    HTTPS_PROXY: "",
    SSL_CERT_FILE: "/ca.pem",
  });
  const expected = { all_proxy: "socks5://a", SSL_CERT_FILE: "/ca.pem", DENO_TLS_CA_STORE: "mozilla,system" };
  assert.deepEqual(others, expected);
  const chosen = networkEnvironment({ SSL_CERT_FILE: "/ca.pem", DENO_TLS_CA_STORE: "system" });
  assert.equal(chosen.DENO_TLS_CA_STORE, "system");
});

Deno.test("the proxy of an address, without what logs in there", () => {
  const env = {
    http_proxy: "http://user:secret@one.test:3128/",
    HTTPS_PROXY: "two.test:8080",
    NO_PROXY: ".near.test,10.0.0.1",
  };
  for (
    const [address, proxy] of [
      ["http://api.test/v1", "one.test:3128"],
      ["https://api.test/v1", "two.test:8080"],
      ["https://api.near.test/v1", undefined],
      ["https://near.test/v1", undefined],
      ["http://10.0.0.1/v1", undefined],
      ["http://localhost:11434", undefined],
      ["http://127.0.0.9:11434", undefined],
      ["http://127.1:11434", undefined],
      ["http://127.0.0.1.test/v1", "one.test:3128"],
      ["http://[::1]:11434", undefined],
    ] as const
  ) assert.equal(proxyFor(address, env), proxy, address);
  assert.equal(
    proxyFor("http://api.test", { ...env, ALL_PROXY: "socks5://u:p@three.test:1080" }),
    "three.test:1080",
  );
  assert.equal(proxyFor("http://api.test", { http_proxy: "http://u:p@:x" }), "of an invalid address");
  assert.equal(proxyFor("http://api.test", {}), undefined);
});
