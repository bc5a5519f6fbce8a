/** Answers the screen's requests about checkpoints; see protocol/requests.ts. */
import type { CheckpointTurn, PreviewFile, RequestResult } from "../../protocol/requests.ts";
import type { Answers } from "./requests.ts";
import type { Screen } from "./screen.ts";
import type { TakenBack } from "../checkpoint/history.ts";
import { previewFiles } from "../checkpoint/restore/preview.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import type { Session } from "../session/session.ts";

/** Turns per page of the list. */
const PAGE = 50;

/** @param sessionOf @throws {ToolError} for an unknown session */
export function checkpointAnswers(sessionOf: (id: string) => Session | Promise<Session>): Answers {
  return {
    async checkpoints({ sessionId, before }) {
      const session = await sessionOf(sessionId);
      const found = (await session.checkpoints.turns(before)).take(PAGE + 1).toArray();
      const page = found.slice(0, PAGE);
      const [newest, oldest] = [page.at(0)?.turn ?? 0, page.at(-1)?.turn ?? 0];
      const begun = new Map(session.turnsBegun(oldest, newest).map((one) => [one.turn, one]));
      const turns = page.map(({ turn, undone, files }): CheckpointTurn => ({
        sessionId,
        turn,
        text: (begun.get(turn)?.text ?? "").trimStart().split("\n")[0] ?? "",
        time: begun.get(turn)?.time ?? 0,
        undone,
        files: session.checkpoints.count(files),
      }));
      const last = turns.at(-1)?.turn;
      return { turns, ...(found.length > PAGE && last !== undefined ? { before: last } : {}) };
    },
    async changes({ sessionId }) {
      const session = await sessionOf(sessionId);
      return { files: await session.checkpoints.changed() };
    },
    async undo({ sessionId, turn, calls }) {
      return taken(await (await sessionOf(sessionId)).takeBack({ kind: "undo", turn, calls }));
    },
    async redo({ sessionId }) {
      return taken(await (await sessionOf(sessionId)).takeBack({ kind: "redo" }));
    },
    async restore({ sessionId, turn }) {
      return taken(await (await sessionOf(sessionId)).takeBack({ kind: "restore", turn }));
    },
    async restore_preview({ sessionId, turn }): Promise<{ files: PreviewFile[] }> {
      const session = await sessionOf(sessionId);
      const planned = await session.checkpoints.preview(turn, AbortSignal.timeout(60_000));
      return { files: previewFiles(planned, session.checkpoints.contents) };
    },
  };
}

function taken({ turn, some, files, turns, calls }: TakenBack): RequestResult<"undo"> {
  return { turn, some, files: [...files], turns: [...turns], calls: [...calls] };
}

/** Our own screen makes links; with other clients Deno decides whether the engine may. */
export function linkMaker(screen: Screen) {
  return async (path: string, target: string): Promise<void> => {
    try {
      if (!screen.has("make_link")) return await Deno.symlink(target, path);
      await screen.ask("make_link", { path, target });
    } catch (error) {
      throw new ToolError(`the symbolic link to ${target} cannot be made: ${messageOf(error)}`);
    }
  };
}
