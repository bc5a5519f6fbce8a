/** Writes over an overlay of a project and waits: to be killed. Arguments: the project, the state folder. */
import { Overlay } from "../../denops/agent/supervisor/commands/overlay/overlay.ts";

const [root = "", state = ""] = Deno.args;
const overlay = await Overlay.start({ roots: [root], state, store: "disk" });
const failed = await overlay.run(`cd "$1"; mkdir closed; echo x > closed/file; chmod 000 closed`, [root]);
console.log(failed ?? `pid ${overlay.enter[2]}`);
await new Promise(() => setInterval(() => {}, 1_000));
