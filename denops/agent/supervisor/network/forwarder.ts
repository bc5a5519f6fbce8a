/**
 * A program for the inside of a sandbox without network: passes connections to a port of the sandbox's own loopback
 * interface, or without a port its own input and output, on to a socket of the supervisor. Further arguments are hosts of
 * the machine, such as localhost:8080: connections to their ports pass through a tunnel of the proxy, so that programs that
 * know no proxy reach them. It has the sandbox's access and no more, and imports nothing.
 * @see proxied.ts
 */
const [path = "", port = "", ...locals] = Deno.args;

/** Characters of the proxy's answer. */
const LONGEST_HEAD = 4_096;
/** Before the next connection is accepted after an error. */
const PAUSE_MS = 10;

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
  for (const host of locals) serveLocal(host).catch(() => {});
  await Deno.stdout.write(new TextEncoder().encode("ready\n"));
  await serve(listener, () => Deno.connect({ transport: "unix", path }));
}

async function serveLocal(host: string): Promise<void> {
  const [, name = "", port] = /^(.*):(\d+)$/.exec(host) ?? [];
  const hostname = name === "[::1]" ? "::1" : "127.0.0.1";
  await serve(Deno.listen({ hostname, port: Number(port) }), () => tunnel(host));
}

/** @param open the other end of each client's connection */
async function serve(listener: Deno.TcpListener, open: () => Promise<Ends>): Promise<void> {
  for (;;) {
    try {
      join(await listener.accept(), open());
    } catch {
      // The client has gone before it was accepted, or too many files are open for now.
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** @throws {Error} if the proxy refuses it or cannot reach it */
async function tunnel(host: string): Promise<Ends> {
  const socket = await Deno.connect({ transport: "unix", path });
  await socket.write(new TextEncoder().encode(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  let head = "";
  // Byte by byte: the next ones are the server's.
  for (const byte = new Uint8Array(1); !head.endsWith("\r\n\r\n");) {
    if (await socket.read(byte) === null || head.length > LONGEST_HEAD) break;
    head += String.fromCharCode(byte[0] ?? 0);
  }
  if (/^HTTP\/1\.\d 200 /.test(head)) return socket;
  socket.close();
  throw new Error(`no tunnel to ${host}`);
}

async function join(client: Ends, opening: Promise<Ends>): Promise<void> {
  const socket = await opening.catch(() => undefined);
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
  try {
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      for (let written = 0; written < count;) written += await to.write(buffer.subarray(written, count));
    }
  } finally {
    // Also after an error: the other end would wait forever.
    await to.closeWrite();
  }
}
