/** Reaching anything but the model's host and port. */
import net from "node:net";
import type { Attempt } from "./attempts.ts";

async function connect(options: Deno.ConnectOptions | Deno.UnixConnectOptions): Promise<void> {
  const conn = "path" in options ? await Deno.connect(options) : await Deno.connect(options);
  conn.close();
}

function connectWithNode(options: net.NetConnectOpts): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = net.connect(options, resolve);
  socket.on("error", reject);
  return promise.finally(() => socket.destroy());
}

const ADDRESSES: readonly Attempt[] = [
  {
    name: "reach another port of this machine",
    run: ({ otherPort }) => connect({ hostname: "127.0.0.1", port: otherPort }),
  },
  {
    name: "reach another port with node:net",
    run: ({ otherPort }) => connectWithNode({ host: "127.0.0.1", port: otherPort }),
  },
  {
    name: "fetch from another port",
    run: async ({ otherPort }) => await (await fetch(`http://127.0.0.1:${otherPort}/`)).text(),
  },
  {
    name: "follow the model's host to another port",
    run: async ({ modelPort }) => await (await fetch(`http://127.0.0.1:${modelPort}/elsewhere`)).text(),
  },
  {
    name: "open a web socket to another port",
    run: ({ otherPort }) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const socket = new WebSocket(`ws://127.0.0.1:${otherPort}/socket`);
      socket.onopen = () => resolve();
      socket.onerror = (event) => reject(event instanceof ErrorEvent ? event.error : new Error("closed"));
      return promise.finally(() => socket.close());
    },
  },
  {
    name: "reach another host",
    run: ({ otherPort }) => connect({ hostname: "127.0.0.2", port: otherPort }),
  },
  {
    name: "reach the model's port under another name",
    run: ({ modelPort }) => connect({ hostname: "localhost", port: modelPort }),
  },
  {
    name: "reach the internet",
    run: () => connect({ hostname: "192.0.2.1", port: 443 }),
    refusal: /Requires net access/,
  },
  {
    name: "resolve a name",
    run: () => Deno.resolveDns("example.com", "A"),
    refusal: /Requires net access/,
  },
  {
    name: "listen",
    run: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  },
  { name: "reach a socket", run: ({ socket }) => connect({ transport: "unix", path: socket }) },
  { name: "reach a socket with node:net", run: ({ socket }) => connectWithNode({ path: socket }) },
  {
    name: "reach a socket through a link",
    run: ({ root, socket }) => connect({ transport: "unix", path: `${root}/to-root${socket}` }),
  },
  {
    name: "reach Neovim's socket",
    run: ({ neovimSocket }) => connect({ transport: "unix", path: neovimSocket }),
  },
  {
    name: "reach Neovim's socket through a link",
    run: ({ root, neovimSocket }) => connectWithNode({ path: `${root}/to-root${neovimSocket}` }),
  },
  {
    name: "reach a socket of the project",
    run: ({ root }) => connect({ transport: "unix", path: `${root}/socket` }),
  },
];

const MODULES: readonly Attempt[] = [
  {
    name: "import a module from this machine",
    run: ({ otherPort }) => import(`http://127.0.0.1:${otherPort}/module.js`),
  },
  {
    name: "import a module from the model's host",
    run: ({ modelPort }) => import(`http://127.0.0.1:${modelPort}/module.js`),
  },
  {
    name: "import a module from the internet",
    run: () => import(`https://deno.land/std@0.224.0/version.ts?${crypto.randomUUID()}`),
    refusal: /--no-remote/,
  },
  {
    name: "import a module from JSR",
    run: () => import("jsr:@agent-nvim-test/absent@1.0.0".slice()),
    refusal: /--no-remote/,
  },
  {
    name: "import a package that is not cached",
    run: () => import("npm:@agent-nvim-test/absent@1.0.0".slice()),
    refusal: /--cached-only/,
  },
];

export const NETWORK: readonly Attempt[] = [...ADDRESSES, ...MODULES];
