/**
 * The words that a user reads, by one rule.
 *
 * What is said outside of the chat is one line after "agent:", begins in lower case unless with a name, and ends
 * without a full stop if it is one sentence. What stands in the transcript is whole sentences with full stops. All of
 * it is short and idiomatic: it says what is so and what to do, and never "there is no X" or "that is known".
 */
import assert from "node:assert/strict";
import { join, relative, sep } from "node:path";
import { PLUGIN } from "../support/agent.ts";
import { comments, filesBelow, literals, LUA, TYPESCRIPT } from "../support/literals.ts";
import { ChildNvim } from "../support/nvim.ts";
import { PARTICIPLES } from "./lua_rooms.ts";

const CLUMSY = [
  /\bthere (is|are) (no|nothing)\b/i,
  /\b(that|which) (is|are) known\b/i,
  /\bis not known\b/i,
  /\bgives? up\b/i,
  /\bof yours that\b/i,
  /\bis no (glob|host|regular|folder|file)\b/i,
  /\bmend\b/i,
  // What is stored is a session, its window a chat.
  /\bconversations?\b/i,
];
/** Phrases of translated English, with the plain words. */
const TRANSLATED: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!\b(?:if|where|when|while|because|since|until|as|that) )\bthere (?:is|are) no\b/i,
    'name the subject: "X has no Y", "No Y exists"',
  ],
  [/\bstands? in\b(?! for)/i, '"is in"'],
  [/\bof late\b/i, '"recently"'],
  [/\bas ever\b/i, '"as usual", or leave it out'],
  [/\bby (?:itself|themselves)\b/i, '"automatically", or "separately"'],
  [/\bgoes on\b/i, '"continues"'],
  [/\bcomes? along\b/i, '"is sent", "is included"'],
  [/\b(?:is|are|be) had\b/i, '"has", "is available"'],
];
/** Names that begin with a capital wherever they stand. */
const NAME = /^(Deno|Neovim|Ollama|[A-Z]{2,})\b/;

/** One sentence has no full stop; of several each has one. */
function isPunctuated(text: string): boolean {
  return /[.!?] \S/.test(text) ? /[.!?)]$/.test(text) || /[%:]/.test(text) : !/[^.]\.$/.test(text);
}

/** The sentences of a text; paragraphs, list items and headings end one. */
function sentences(text: string): readonly string[] {
  return text.split(/\n\s*\n|\n\s*(?=[-|*#@]|\d+\. )|(?<=[.!?:])\s+/).map((sentence) =>
    sentence.replaceAll(/\s+/g, " ").replace(/^[-|*#\d.)]+ /, "").trim()
  );
}

/** What is wrong with the English of a text, sentence by sentence. */
function translated(text: string): readonly string[] {
  return sentences(text).flatMap((sentence) => {
    const isHeadless = /^(?:What|Which|Whoever|Whatever)\b/.test(sentence) && !sentence.endsWith("?");
    const phrase = TRANSLATED.find(([pattern]) => pattern.test(sentence));
    if (isHeadless) return [`${sentence} (name the subject instead of a relative clause)`];
    return phrase === undefined ? [] : [`${sentence} (say ${phrase[1]})`];
  });
}

Deno.test("words: the documentation is plain English", async () => {
  const wrong: string[] = [];
  for (
    const name of [
      "README.md",
      "AGENTS.md",
      "CONTRIBUTING.md",
      "CHANGELOG.md",
      "ARCHITECTURE.md",
      "doc/agent.txt",
    ]
  ) {
    wrong.push(...translated(await Deno.readTextFile(join(PLUGIN, name))).map((text) => `${name}: ${text}`));
  }
  assert.deepEqual(wrong, []);
});

Deno.test("words: comments are plain English", async () => {
  const all = [...await comments(LUA), ...await comments(TYPESCRIPT)];
  assert.ok(all.length > 5_000, `${all.length} comments`);
  assert.deepEqual(
    all.flatMap(({ at, text }) => translated(text).map((sentence) => `${at} ${sentence}`)),
    [],
  );
});

/** Participles that are keys of messages, stored entries and columns. Only remove lines. */
const STORED_NAMES: readonly string[] = [
  "acp/session.ts: given",
  "engine/acp/serve.ts: shown",
  "engine/acp/updates.ts: given",
  "engine/agent/turn/policies/write_checks.ts: said",
  "engine/log/entries.ts: given",
  "engine/log/events.ts: given",
  "engine/store/reviews.ts: asked",
  "engine/store/sqlite.ts: asked",
  "engine/store/usage.ts: asked",
  "engine/tools/lsp/diagnostics.ts: said",
  "protocol/extensions.ts: given",
  "protocol/extensions.ts: shown",
  "protocol/lsp.ts: said",
  "protocol/actions.ts: given",
  "protocol/actions.ts: shown",
  "protocol/ui.ts: given",
  "protocol/ui.ts: shown",
  "supervisor/actions/turns.ts: given",
  "supervisor/agents/engine.ts: shown",
  "supervisor/gate/approval_log.ts: accesses",
  "supervisor/gate/gate.ts: accesses",
  "supervisor/screen/updates.ts: given",
  "supervisor/screen/updates.ts: shown",
  "supervisor/sessions/chat.ts: given",
  "supervisor/sessions/chat.ts: shown",
];

Deno.test("words: no identifier is a participle, except stored names and names on the wire", async () => {
  const found = new Set<string>();
  const isParticiple = new RegExp(`^(?:${PARTICIPLES})$`);
  const folder = join(PLUGIN, TYPESCRIPT.folder);
  for await (const file of filesBelow(folder, TYPESCRIPT.files)) {
    const path = relative(folder, file).replaceAll(sep, "/");
    const note = ({ name }: { readonly name: string }) => {
      if (isParticiple.test(name)) found.add(`${path}: ${name}`);
    };
    const rule = { create: () => ({ Identifier: note, PrivateIdentifier: note }) };
    Deno.lint.runPlugin({ name: "words", rules: { participles: rule } }, file, await Deno.readTextFile(file));
  }
  assert.deepEqual([...found].toSorted(), STORED_NAMES.toSorted());
});

Deno.test("words: none of them is clumsy", async () => {
  const all = [...await literals(LUA), ...await literals(TYPESCRIPT)]
    .filter(({ text }) => /[a-z]{2} [a-z]/i.test(text));
  assert.ok(all.length > 900, `${all.length} texts`);
  const patterns = [...CLUMSY, ...TRANSLATED.map(([pattern]) => pattern)];
  const wrong = all.filter(({ text }) => patterns.some((pattern) => pattern.test(text)));
  assert.deepEqual(wrong.map(({ at, text }) => `${at} ${text}`), []);
});

Deno.test('words: what follows "agent:" begins in lower case, and one sentence has no full stop', async () => {
  const said = (await literals(LUA)).flatMap(({ at, text, code }) => {
    if (text.startsWith("agent: ")) return [{ at, text: text.slice("agent: ".length) }];
    return /\bsay\.(info|warn|error)\(/.test(code) && text.includes(" ") ? [{ at, text }] : [];
  });
  assert.ok(said.length > 30, `${said.length} texts`);
  const wrong = said.filter(({ text }) => /^[A-Z]/.test(text) && !NAME.test(text) || !isPunctuated(text));
  assert.deepEqual(wrong.map(({ at, text }) => `${at} ${text}`), []);
});

Deno.test("words: notices in the transcript are sentences with full stops", async () => {
  const notices = (await literals(LUA)).filter(({ at, text, code }) =>
    /^lua\/agent\/(timeline|chat|sessions\/init)/.test(at) && text.includes(" ") &&
    /\blocal text = |\{ "(info|warning|error)", /.test(code) &&
    /^[A-Z'%]/.test(text)
  );
  assert.ok(notices.length > 4, `${notices.length} texts`);
  const wrong = notices.filter(({ text }) => !/[.…]$|: :Agent \w+$/.test(text));
  assert.deepEqual(wrong.map(({ at, text }) => `${at} ${text}`), []);
});

Deno.test("words: what comes from elsewhere is made to fit", async () => {
  await using nvim = await ChildNvim.start({ runtime: [PLUGIN] });
  const line = (text: string) => nvim.lua(`return require("agent.ui.say").line(...)`, text);
  for (
    const [given, said] of [
      [
        "Cannot start: denops.vim is not installed (option host).",
        "cannot start: denops.vim is not installed (option host)",
      ],
      [
        "Deno was not found. Install Deno, or set the option deno.",
        "Deno was not found. Install Deno, or set the option deno.",
      ],
      ["HTTP 500 (…).\nat line 3", "HTTP 500 (…)"],
      ["The engine stopped. The next message goes on.", "the engine stopped. The next message goes on."],
      ["src/app.ts conflicts", "src/app.ts conflicts"],
    ] as const
  ) assert.equal(await line(given), `agent: ${said}`);
  const fitting = (texts: readonly string[]) =>
    nvim.lua(`return require("agent.ui.say").fitting(...)`, texts);
  assert.equal(await fitting(["x".repeat(200), "short", "shorter"]), "short");
  assert.equal(await fitting(["x".repeat(200), "y".repeat(200)]), "y".repeat(200));
});
