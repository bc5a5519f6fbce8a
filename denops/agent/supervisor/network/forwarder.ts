/**
 * A program for the inside of a sandbox without network: passes connections to a port of the sandbox's own loopback
 * interface on to the proxy's socket. It has the sandbox's access and no more, and imports nothing.
 * @see proxied.ts
 */
const [socket = "", port = ""] = Deno.args;

const listener = Deno.listen({ hostname: "127.0.0.1", port: Number(port) });
await Deno.stdout.write(new TextEncoder().encode("ready\n"));

for await (const client of listener) serve(client);

async function serve(client: Deno.Conn): Promise<void> {
  const proxy = await Deno.connect({ transport: "unix", path: socket }).catch(() => undefined);
  // If one direction breaks, the other still brings its last bytes.
  if (proxy !== undefined) await Promise.allSettled([copy(client, proxy), copy(proxy, client)]);
  for (const connection of [client, proxy]) {
    try {
      connection?.close();
    } catch {
      // It is already closed.
    }
  }
}

async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(16_384);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    for (let written = 0; written < count;) written += await to.write(buffer.subarray(written, count));
  }
  await to.closeWrite();
}
