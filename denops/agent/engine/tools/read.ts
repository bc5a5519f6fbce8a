import { isAbsolute } from "node:path";
import * as z from "../../deps/zod.ts";
import { nameInRoots } from "../../policy/roots.ts";
import type { AccessPath } from "../../protocol/access.ts";
import { messageOf, ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { defineTool, files, type PreparedCall, titleText, type ToolResult } from "./define.ts";
import { readImage } from "./files/disk.ts";
import { type ImageRoom, LARGEST_IMAGE } from "./files/image_room.ts";
import { readLines, splitWindow } from "./files/line_window.ts";
import { shownPath } from "./files/text_file.ts";
import type { SkillsPort } from "../ports/skills.ts";
import type { Workspace } from "./files/workspace.ts";
import { plural } from "../../shared/text/text.ts";

const MOST_FILES = 20;

interface LineRange {
  /** The first line, from 1. */
  readonly offset: number;
  readonly limit: number | undefined;
}

interface Ports {
  readonly workspace: Workspace;
  readonly images: ImageRoom;
  readonly skills?: SkillsPort;
}

export const read = defineTool({
  name: "read",
  description:
    "Read a text file. Its lines come numbered as `12\\ttext`; the numbers are no part of it. At most 2000 lines or " +
    "100 kB at once: use offset and limit for more. You see an image (PNG, JPEG, GIF, WebP) as one if you can.",
  kind: "read",
  readOnly: true,
  basic: true,
  uses: "skills",
  schema: z.object({
    path: z.string().optional().describe("relative to the project"),
    offset: z.int().min(1).optional().describe("first line, from 1"),
    limit: z.int().min(1).optional().describe("number of lines"),
    paths: z.array(z.string()).max(MOST_FILES).optional().describe("several files at once"),
  }),
  title: ({ path, paths, offset, limit }) => {
    const names = [path, ...Array.isArray(paths) ? paths : []].filter((name) => typeof name === "string");
    const first = typeof offset === "number" ? offset : 1;
    const last = typeof limit === "number" ? `${first}–${first + limit - 1}` : `from ${first}`;
    return `read ${titleText(names.join(", "))}${first === 1 && typeof limit !== "number" ? "" : ` ${last}`}`;
  },

  async prepare({ path, paths = [], offset = 1, limit }, ports, signal) {
    const names = [...path === undefined ? [] : [path], ...paths];
    const [only, ...others] = names;
    if (only === undefined) throw new ToolError("read needs path.");
    const range = { offset, limit };
    if (others.length === 0) return await readOne(only, range, ports, signal);
    // An unreadable file does not affect the others.
    const calls = await Promise.all(
      names.map((name) => readOne(name, range, ports, signal).catch((error: unknown) => messageOf(error))),
    );
    return {
      access: files(
        ...calls.flatMap((call) => typeof call === "string" ? [] : [["read", call.target] as const]),
      ),
      run: (signal) => readAll(names, calls, signal),
    };
  },
});

type ReadCall = PreparedCall & { readonly target: AccessPath };

async function readOne(
  path: string,
  { offset, limit }: LineRange,
  { workspace, images, skills }: Ports,
  signal: AbortSignal,
): Promise<ReadCall> {
  const target = await workspace.resolveReadable(path).catch(async (error) => {
    const file = await skillFile(path, workspace, skills, signal);
    if (file === undefined) throw error;
    return file;
  });
  if ("text" in target) return readSkillFile(target, { offset, limit });
  const name = shownPath(target);
  return {
    target,
    access: files(["read", target]),
    async run(): Promise<ToolResult> {
      const file = await workspace.read(target, signal);
      const info = workspace.info(target);
      if (file === undefined && info === undefined) throw new ToolError(`${name} does not exist.`);
      if (info?.kind === "directory") throw new ToolError(`${name} is a folder. Use list.`);
      if (info?.kind === "other") throw new ToolError(`${name} is not a regular file.`);
      const image = file === undefined ? showImage(target.path, name, images) : undefined;
      if (image !== undefined) return image;
      const window = file === undefined
        ? await readLines(target.path, offset, limit, signal)
        : splitWindow(file.text, offset, limit);
      if (window === undefined) throw new ToolError(`${name} is a binary file (${info?.size ?? 0} bytes).`);
      const { text, summary } = windowText(name, window, offset);
      if (window.lines.length === 0) return { text, summary };
      // A file that is read from its beginning opens where the user was in it.
      const first = offset === 1 && limit === undefined ? undefined : offset;
      const note = file?.unsaved !== true ? "" : `[${name} as in the user's editor, with unsaved changes]\n`;
      return {
        text: note + text,
        summary,
        locations: [{ path: target.path, ...defined({ line: first }) }],
      };
    },
  };
}

/** Numbered lines. */
function windowText(
  name: string,
  { lines, more }: ReturnType<typeof splitWindow>,
  offset: number,
): Pick<ToolResult, "text" | "summary"> {
  if (lines.length === 0) {
    return offset === 1
      ? { text: `${name} is empty.`, summary: "empty" }
      : { text: `${name} has no line ${offset}.`, summary: "no such line" };
  }
  const numbered = lines.map((line, index) => `${offset + index}\t${line}`);
  if (more !== undefined) numbered.push(`[${more}; read on with offset ${offset + lines.length}]`);
  return { text: numbered.join("\n"), summary: plural(lines.length, "line") };
}

/** A text file of a skill that is outside of the workspace. */
interface SkillText extends AccessPath {
  readonly text: string;
}

async function skillFile(
  path: string,
  { roots }: Workspace,
  skills: SkillsPort | undefined,
  signal: AbortSignal,
): Promise<SkillText | undefined> {
  const isOutside = isAbsolute(path) && nameInRoots(path, roots) === undefined;
  const text = isOutside ? await skills?.file(path, signal) : undefined;
  return text === undefined
    ? undefined
    : { path, link: path, relative: path, named: path, exists: true, text };
}

function readSkillFile({ text, ...target }: SkillText, { offset, limit }: LineRange): ReadCall {
  return {
    target,
    access: files(["read", target]),
    run: () => Promise.resolve(windowText(target.named, splitWindow(text, offset, limit), offset)),
  };
}

type ReadResult = Pick<ToolResult, "text" | "images" | "locations">;

/** @param calls including failed ones, which give a reason */
async function readAll(
  names: readonly string[],
  calls: readonly (ReadCall | string)[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const results = await Promise.all(calls.map(async (call): Promise<ReadResult> => {
    if (typeof call === "string") return { text: call };
    return await call.run(signal, {}).catch((error: unknown) => ({ text: messageOf(error) }));
  }));
  const images = results.flatMap((result) => result.images ?? []);
  return {
    text: results.map(({ text }, index) => `── ${names[index]} ──\n${text}`).join("\n\n"),
    summary: plural(names.length, "file"),
    locations: results.flatMap((result) => result.locations ?? []),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** Undefined if it is not an image. @throws {ToolError} if it cannot be sent */
function showImage(path: string, name: string, room: ImageRoom): ToolResult | undefined {
  const file = readImage(path, LARGEST_IMAGE);
  const answer = file === undefined ? undefined : room.take(name, file.bytes, file.size);
  if (answer === undefined) return undefined;
  const { text, summary, image } = answer;
  return { text, summary, ...(image === undefined ? {} : { images: [image] }) };
}
