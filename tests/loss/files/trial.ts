/**
 * One trial: an agent and a user change a project at random, turns are undone, redone and restored, and the engine
 * dies in between. What is on the disk is compared with pictures taken on the way.
 */
import { messageOf, ToolError } from "../../../denops/agent/shared/errors.ts";
import { scratch } from "../../support/project.ts";
import { Acts, firstFiles } from "./acts.ts";
import { runKilled } from "./killed.ts";
import { Random } from "./random.ts";
import { differences, marksOf, type Tree, treeOf, withoutMine } from "./tree.ts";
import { type Taking, World } from "./world.ts";

/** Of the trials: with the real engine, and a real kill. */
const SHARE_KILLED = 1 / 20;

/** What the user does meanwhile: nothing; files of their own; anything. */
type User = "idle" | "beside" | "amidst";

interface Done {
  readonly turn: number;
  readonly before: Tree;
  readonly marks: ReadonlySet<string>;
}

/** @returns one line for each thing that was lost or is wrong; the last ones say what was done */
export async function runTrial(seed: number): Promise<readonly string[]> {
  const random = new Random(seed);
  if (random.chance(SHARE_KILLED)) return await runKilled(random);
  await using project = await scratch(firstFiles(random));
  await using state = await scratch();
  const trial = new Trial(random, await World.open(project.root, state.root));
  try {
    return await trial.run();
  } finally {
    await removeAll(project.root);
  }
}

/** With what its owner has closed. */
async function removeAll(root: string): Promise<void> {
  const script = 'chmod -R u+rwx "$1" && rm -rf "$1"';
  await new Deno.Command("sh", { args: ["-c", script, "sh", root], stderr: "null" }).output();
}

class Trial {
  readonly #random: Random;
  readonly #world: World;
  readonly #acts: Acts;
  readonly #user: User;
  readonly #log: string[] = [];
  readonly #wrong: string[] = [];
  /** Turns that stand, oldest first; then those that may be done again, newest last. */
  #standing: Done[] = [];
  #undone: Done[] = [];
  /** Deleted by the user, and not touched by the agent since. */
  readonly #gone = new Set<string>();
  /** Every mark that the user has left since what was undone last. */
  #marks: ReadonlySet<string> = new Set();
  #inPart = false;

  constructor(random: Random, world: World) {
    this.#random = random;
    this.#world = world;
    this.#acts = new Acts(world.root, random);
    this.#user = random.choose({ idle: 4, beside: 2, amidst: 4 });
    this.#log.push(`user ${this.#user}`);
  }

  async run(): Promise<readonly string[]> {
    using _ = this.#world;
    try {
      for (let left = this.#random.int(3, 9); left > 0 && this.#wrong.length === 0; left--) {
        await this.#step();
      }
      if (this.#wrong.length === 0) await this.#allBackAndForth();
    } catch (error) {
      this.#wrong.push(`failed: ${error instanceof Error ? error.stack : error}`);
    }
    return this.#wrong.length === 0 ? [] : [...this.#wrong, ...this.#log.map((line) => `  ${line}`)];
  }

  async #step(): Promise<void> {
    switch (
      this.#random.choose({ turn: 8, user: 2, undo: 3, older: 1, redo: 2, restore: 1, cut: 1, again: 0.5 })
    ) {
      case "turn":
        return await this.#turn();
      case "user":
        return await this.#userActs();
      case "undo":
        return await this.#take({ kind: "undo", turn: undefined });
      case "older": {
        // Turns that others have built upon; with a user who does nothing all is to be as it was.
        const turn = this.#random.pick(this.#standing)?.turn;
        if (this.#user === "amidst" && turn !== undefined) await this.#take({ kind: "undo", turn });
        return;
      }
      case "redo":
        return await this.#take({ kind: "redo" });
      case "restore": {
        const turn = this.#random.pick(this.#standing)?.turn;
        if (turn !== undefined) await this.#take({ kind: "restore", turn });
        return;
      }
      case "cut":
        return await this.#cutOff();
      case "again":
        this.#log.push("the engine ends and begins again");
        await this.#world.crash();
        return await this.#world.again();
    }
  }

  async #turn(): Promise<void> {
    const { root } = this.#world;
    const before = treeOf(root);
    const done: Done = { turn: this.#world.nextTurn(), before, marks: marksOf(before) };
    this.#log.push(`turn ${done.turn}`);
    for (let left = this.#random.int(1, 4); left > 0; left--) {
      const now = treeOf(root);
      const act = this.#acts.agent(now);
      if (act === undefined) continue;
      const crash = this.#random.chance(0.06);
      this.#log.push(`${act.said}${crash ? ", and the engine dies" : ""}`);
      await this.#world.act(act, crash ? "crash" : "end");
      const after = treeOf(root);
      for (const path of this.#gone) {
        if (after.has(path) || act.kind === "tool" && act.paths.includes(`${root}/${path}`)) {
          this.#gone.delete(path);
        }
      }
      if (crash) {
        if (this.#random.chance(0.5)) await this.#userActs(true);
        await this.#world.again();
      }
      if (this.#user !== "idle" && this.#random.chance(0.3)) await this.#userActs();
    }
    const turns = await this.#world.checkpoints.turns();
    if (turns.some(({ turn }) => turn === done.turn)) this.#standing.push(done);
    else if (this.#user === "idle") {
      this.#compare("a turn that has changed nothing", before, treeOf(root));
    }
    this.#undone = [];
  }

  /** @param gently nothing of the agent's is touched */
  async #userActs(gently = false): Promise<void> {
    if (this.#user === "idle") return;
    const before = treeOf(this.#world.root);
    const { said, gone } = await this.#acts.user(before, gently || this.#user === "beside");
    this.#log.push(said);
    for (const path of gone) this.#gone.add(path);
    const after = treeOf(this.#world.root);
    for (const path of after.keys()) this.#gone.delete(path);
    const known = marksOf(before);
    this.#marks = new Set(
      [...this.#marks, ...marksOf(after)].filter((mark) => !known.has(mark) || this.#marks.has(mark)),
    );
    // A user who comes between may keep it from being the same again.
    if (this.#user === "amidst") this.#inPart = true;
  }

  async #take(taking: Taking): Promise<void> {
    const { root } = this.#world;
    const said = `turn` in taking && taking.turn !== undefined
      ? `${taking.kind} ${taking.turn}`
      : taking.kind;
    const before = treeOf(root);
    let taken;
    try {
      taken = await this.#world.takeBack(taking);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.#log.push(`${said}: ${messageOf(error)}`);
      this.#compare(`${said} was refused and has changed something`, before, treeOf(root));
      const nothing = taking.kind === "redo" ? this.#undone : this.#standing;
      if (this.#user !== "amidst" && nothing.length > 0) this.#wrong.push(`${said}: ${messageOf(error)}`);
      return;
    }
    const after = treeOf(root);
    const short = (path: string) => path.slice(root.length + 1);
    const told = taken.files.map(({ path, outcome, text }) =>
      `${short(path)} ${outcome}${text === undefined ? "" : ` (${text.split("\n")[0]})`}`
    );
    this.#log.push(`${said}, turn ${taken.turn}: ${told.join(", ")}`);
    this.#unharmed(said, taken.files.filter(({ outcome }) => isLeft(outcome)), before, after);
    this.#userIsSafe(said, taking, before, after);
    // What the user had deleted was of the turn that is undone: an earlier turn's of that name comes back with its undo.
    for (const { path, outcome } of taken.files) {
      if (taking.kind !== "redo" && outcome === "unchanged") this.#gone.delete(short(path));
    }
    const left = taken.files.filter(({ outcome }) => isLeft(outcome));
    if (this.#user !== "amidst" && left.length > 0) {
      this.#wrong.push(`${said} has left something: ${told.join(", ")}`);
    }
    this.#follow(said, taking, taken.turn, before, after);
  }

  /** What the pictures say that there must be. */
  #follow(said: string, taking: Taking, turn: number, before: Tree, after: Tree): void {
    if (this.#user === "amidst") {
      if (taking.kind === "redo") this.#marks = new Set();
      return;
    }
    if (taking.kind === "redo") {
      const done = this.#undone.pop();
      if (done === undefined) return void this.#wrong.push(`${said}: there was nothing to redo`);
      // What was taken back together comes back together.
      this.#compare(said, done.before, after);
      this.#standing = [...doneBefore.get(done) ?? []];
      return;
    }
    const at = this.#standing.findIndex((one) => one.turn === turn);
    const target = this.#standing[at];
    if (target === undefined) return void this.#wrong.push(`${said}: turn ${turn} does not stand`);
    const undone: Done = { turn, before, marks: new Set() };
    doneBefore.set(undone, this.#standing);
    this.#undone.push(undone);
    this.#standing = this.#standing.slice(0, at);
    this.#compare(said, target.before, after);
  }

  #compare(said: string, wanted: Tree, found: Tree): void {
    const [one, other] = [withoutMine(wanted, wanted), withoutMine(found, withoutMine(wanted, wanted))];
    this.#wrong.push(...differences(one, other).map((line) => `${said}: ${line}`));
  }

  #unharmed(said: string, left: readonly { path: string; from?: string }[], before: Tree, after: Tree): void {
    for (const { path, from } of left) {
      for (const full of [path, ...(from === undefined ? [] : [from])]) {
        const name = full.slice(this.#world.root.length + 1);
        if (before.get(name)?.what !== after.get(name)?.what) {
          this.#wrong.push(`${said}: ${name} was left as it is, they say, and has changed`);
        }
      }
    }
  }

  #userIsSafe(said: string, taking: Taking, before: Tree, after: Tree): void {
    const [had, has] = [marksOf(before), marksOf(after)];
    // To do it again may take away what it took away at first.
    const must = taking.kind === "redo" ? [...this.#marks].filter((mark) => had.has(mark)) : had;
    for (const mark of must) if (!has.has(mark)) this.#wrong.push(`${said}: ${mark} is lost`);
    if (taking.kind === "redo") {
      // The user has asked for what the agent had made there: an undo takes it to where it was before.
      for (const path of this.#gone) if (after.has(path)) this.#gone.delete(path);
      return;
    }
    for (const path of this.#gone) {
      // A folder that was there before is needed for what comes back into it.
      const { kind } = after.get(path) ?? {};
      if (kind !== undefined && kind !== "folder") {
        this.#wrong.push(`${said}: ${path} was deleted by the user and is back`);
      }
    }
    this.#marks = new Set();
  }

  /** The engine dies in the middle of an undo: once more, and it is as if nothing had happened. */
  async #cutOff(): Promise<void> {
    const target = this.#standing.at(-1);
    if (target === undefined || this.#undone.length > 0) return;
    const { root } = this.#world;
    const [before, stood] = [treeOf(root), this.#standing];
    const changes = this.#random.int(0, 8);
    const cut = await this.#world.cutOff({ kind: "undo", turn: target.turn }, changes);
    this.#log.push(
      `undo ${target.turn}, and the engine dies after ${changes} changes${cut ? "" : ", too late"}`,
    );
    await this.#world.again();
    const half = treeOf(root);
    for (const mark of marksOf(before)) {
      if (!marksOf(half).has(mark)) this.#wrong.push(`half an undo: ${mark} is lost`);
    }
    this.#marks = new Set();
    if (this.#user === "amidst") return;
    const turns = await this.#world.checkpoints.turns();
    if (turns.find(({ turn }) => turn === target.turn)?.undone === false) {
      const { files } = await this.#world.takeBack({ kind: "undo", turn: target.turn });
      this.#log.push(
        `again: ${
          files.map(({ path, outcome, text }) => `${path.slice(root.length + 1)} ${outcome} ${text ?? ""}`)
        }`,
      );
    }
    this.#compare("half an undo and the rest", target.before, treeOf(root));
    this.#standing = stood.slice(0, -1);
    for (let redone = 0; redone < 3; redone++) {
      if (await this.#world.takeBack({ kind: "redo" }).then(() => false, () => true)) break;
      this.#log.push("redo");
    }
    this.#compare("half an undo, the rest and redo", before, treeOf(root));
    this.#standing = stood;
    this.#undone = [];
  }

  async #allBackAndForth(): Promise<void> {
    const [first] = this.#standing;
    if (first === undefined) return;
    const oneByOne = this.#random.chance(0.5);
    if (oneByOne) {
      for (let left = this.#standing.length; left > 0 && this.#wrong.length === 0; left--) {
        await this.#take({ kind: "undo", turn: undefined });
      }
    } else await this.#take({ kind: "restore", turn: first.turn });
    for (let left = this.#undone.length; left > 0 && this.#wrong.length === 0; left--) {
      await this.#take({ kind: "redo" });
    }
  }
}

/** What stood before something was taken back. */
const doneBefore = new WeakMap<Done, readonly Done[]>();

function isLeft(outcome: string): boolean {
  return outcome === "conflict" || outcome === "skipped";
}
