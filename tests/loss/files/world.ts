/** A project with the checkpoints of one session, which can end at any moment and begin again on the same database. */
import { asked } from "../../support/entries.ts";
import { noEditor } from "../../../denops/agent/engine/acp/editor.ts";
import { SessionCheckpoints } from "../../../denops/agent/engine/checkpoint/session_checkpoints.ts";
import { Database } from "../../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../../denops/agent/engine/store/sqlite.ts";
import { pause } from "../../support/project.ts";
import type { Act } from "./acts.ts";

const SESSION = "s1";

/** Milliseconds between two signs of life of a call that runs. */
const ALIVE_MS = 100;

export type Taking = Parameters<SessionCheckpoints["takeBack"]>[0];

export class World implements Disposable {
  readonly root: string;
  readonly #state: string;
  readonly notices: string[] = [];
  #database: Database;
  #store: SqliteStore;
  checkpoints: SessionCheckpoints;

  private constructor(root: string, state: string, database: Database) {
    this.root = root;
    this.#state = state;
    this.#database = database;
    ({ store: this.#store, checkpoints: this.checkpoints } = this.#open());
  }

  static async open(root: string, state: string): Promise<World> {
    const world = new World(root, state, await Database.openIn(state));
    world.#store.createSession({ id: SESSION, root, model: "scripted" });
    return world;
  }

  #open() {
    const store = new SqliteStore(this.#database);
    const journal = store.writes;
    const roots = [this.root];
    const checkpoints = new SessionCheckpoints({
      session: SESSION,
      roots,
      store: store.checkpoints,
      editor: noEditor,
      journal,
      turn: () => store.turn(SESSION),
      makeLink: (path, target) => Deno.symlink(target, path),
      notice: (text) => this.notices.push(text),
      aliveMs: ALIVE_MS,
    });
    return { store, checkpoints };
  }

  get turn(): number {
    return this.#store.turn(SESSION);
  }

  nextTurn(): number {
    this.#store.append(SESSION, { entries: [asked("Go")] });
    return this.turn;
  }

  /** @param end it is not told that it has ended: its process dies before */
  async act(act: Act, end: "end" | "crash"): Promise<void> {
    const pending = await this.checkpoints.before(
      act.kind === "command"
        ? { id: "call", paths: [], command: "foreground" }
        : { id: "call", paths: act.paths },
    );
    const changes = await act.run() ?? [];
    if (end === "end") await pending.done(changes);
    else await this.crash();
  }

  takeBack(taking: Taking) {
    return this.checkpoints.takeBack(taking, new AbortController().signal);
  }

  /** The engine dies before a change of the disk. @returns false if it had come to its end by then */
  async cutOff(taking: Taking, changes: number): Promise<boolean> {
    const end = await dyingAfter(changes, () => this.takeBack(taking));
    await this.crash();
    return end === "died";
  }

  /** What runs is forgotten, and the session begins again. */
  async crash(): Promise<void> {
    this.#database[Symbol.dispose]();
    await pause(3 * ALIVE_MS);
  }

  async again(): Promise<void> {
    this.#database = await Database.openIn(this.#state);
    ({ store: this.#store, checkpoints: this.checkpoints } = this.#open());
    await this.#store.writes.sweep();
    await this.checkpoints.turns();
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]();
  }
}

const CHANGING = ["rename", "remove", "mkdir", "symlink"] as const;

/** After so many changes of the disk the next one never returns. */
async function dyingAfter(changes: number, act: () => Promise<unknown>): Promise<"died" | "done"> {
  const known = CHANGING.map((name) => [name, Deno[name]] as const);
  let left = changes;
  const died = new Promise<"died">((resolve) => {
    for (const [name, change] of known) {
      const dying = (...args: never[]) => {
        if (left-- > 0) return Reflect.apply(change, Deno, args);
        resolve("died");
        return new Promise(() => {});
      };
      Object.defineProperty(Deno, name, { value: dying, configurable: true, writable: true });
    }
  });
  try {
    return await Promise.race([died, act().then(() => "done" as const, () => "done" as const)]);
  } finally {
    for (const [name, value] of known) {
      Object.defineProperty(Deno, name, { value, configurable: true, writable: true });
    }
  }
}
