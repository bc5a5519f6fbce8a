/**
 * A program for the inside of a sandbox without network: passes connections to a port of the sandbox's own loopback
 * interface, or without a port its own input and output, on to a socket of the supervisor. It has the sandbox's access and
 * no more, and imports nothing.
 * @see proxied.ts
 */
const [path = "", port = ""] = Deno.args;

interface Ends {
  read(buffer: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  closeWrite(): unknown;
  close(): void;
}

if (port === "") await serveInput();
else await servePort(Number(port));

async function serveInput(): Promise<void> {
  const { stdin, stdout } = Deno;
  const ends: Ends = {
    read: (buffer) => stdin.read(buffer),
    write: (bytes) => stdout.write(bytes),
    closeWrite: () => stdout.close(),
    close: () => stdin.close(),
  };
  // Its client hears of the socket's end.
  const socket = await Deno.connect({ transport: "unix", path });
  await Promise.race([copy(socket, ends), copy(ends, socket).then(() => new Promise(() => {}))]).catch(
    () => {},
  );
  Deno.exit(0);
}

async function servePort(number: number): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: number });
  await Deno.stdout.write(new TextEncoder().encode("ready\n"));
  for await (const client of listener) serve(client);
}

async function serve(client: Ends): Promise<void> {
  const socket = await Deno.connect({ transport: "unix", path }).catch(() => undefined);
  // If one direction breaks, the other still brings its last bytes.
  if (socket !== undefined) await Promise.allSettled([copy(client, socket), copy(socket, client)]);
  for (const connection of [client, socket]) {
    try {
      connection?.close();
    } catch {
      // It is already closed.
    }
  }
}

async function copy(from: Ends, to: Ends): Promise<void> {
  const buffer = new Uint8Array(16_384);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    for (let written = 0; written < count;) written += await to.write(buffer.subarray(written, count));
  }
  await to.closeWrite();
}
