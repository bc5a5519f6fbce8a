/** Turns that end without a change, in any language: which of them are sent on, and which pay for a question. */
import assert from "node:assert/strict";
import { END_TURN, startEngine } from "../../../../../../tests/support/engine_session.ts";
import type { FileRules } from "../../../../protocol/config.ts";
import { CHOSEN } from "../../../context/modes.ts";
import { isQuestion, mayBeTask, printsCode } from "./claims.ts";

const FILES = { "a.txt": "alpha\n" };
const READ = 'call read_file {"path": "a.txt"}';
const EDIT = 'call edit_file {"path": "a.txt", "old_str": "alpha", "new_str": "omega"}';
const WRONG = 'call edit_file {"path": "a.txt", "old_str": "beta", "new_str": "omega"}';
const PLAN = 'call update_plan {"steps": [{"step": "Rename alpha", "status": "in_progress"}]}';
const YES = 'say {"claims_change": true}';

const ASKS: FileRules = {
  safe_to_write: [{ glob: "**", safe: false }],
  deny_read: [],
  read_rules: { deny: [], ask: [] },
};

const NUDGE = {
  edit: "expect Your last edit failed (edit a.txt), and this turn has changed nothing.",
  plan: "expect Your plan has open steps: Rename alpha.",
  claim: "expect Your answer says that something was changed",
};

interface Turn {
  readonly what: string;
  readonly request: string;
  readonly script: readonly string[];
  readonly claims?: string;
  readonly mode?: string;
  /** The tool that asks the user is offered. */
  readonly canAsk?: true;
  /** Questions whether the answer claims a change. */
  readonly questions: number;
  /** What becomes of a.txt. */
  readonly text: string;
}

const TURNS: readonly Turn[] = [
  ...["Benenne alpha in omega um", "把 alpha 改名为 omega", "alphaの名前をomegaに変更して"].map((
    request,
  ) => ({
    what: `an edit failed, and the model says that it is done: ${request}`,
    request,
    script: [READ, WRONG, "say 完了。 Erledigt. [TASK_COMPLETE]", `${NUDGE.edit}\n${EDIT}`, "say 完了。"],
    questions: 0,
    text: "omega\n",
  })),
  {
    what: "an edit failed twice: one nudge",
    request: "Benenne alpha um",
    script: [READ, WRONG, "say Fertig.", `${NUDGE.edit}\n${WRONG}`, "say Es ging nicht."],
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "an edit failed and the model asks",
    request: "Benenne alpha um",
    script: [READ, WRONG, "say beta gibt es nicht. Meinst du alpha?"],
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "an edit failed, then one was made",
    request: "Benenne alpha um",
    script: [READ, WRONG, EDIT, "say Fertig."],
    questions: 0,
    text: "omega\n",
  },
  {
    what: "a step of the plan is open",
    request: "Benenne alpha um",
    script: [PLAN, "say Fertig. [TASK_COMPLETE]", `${NUDGE.plan}\n${READ}`, EDIT, "say Fertig."],
    questions: 0,
    text: "omega\n",
  },
  {
    what: "a step of the plan is open, and the model asks whether to go on",
    request: "Benenne alpha um",
    script: [
      PLAN,
      "say Soll ich weitermachen?",
      `${NUDGE.plan}\nexpect ask with the tool ask_user\n${READ}`,
      EDIT,
      "say Fertig.",
    ],
    canAsk: true,
    questions: 0,
    text: "omega\n",
  },
  {
    what: "a step of the plan is open, and the model asks where it has no tool to ask with",
    request: "Benenne alpha um",
    script: [PLAN, "say In was?"],
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "a step of the plan is open, and the model insists on its question",
    request: "Benenne alpha um",
    script: [PLAN, "say In was?", `${NUDGE.plan}\nsay In was?`],
    canAsk: true,
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "mode auto takes a polite question for an order, and a change is claimed",
    request: "Could you rename alpha?",
    mode: CHOSEN.auto.name,
    script: [
      'say {"mode": "agent"}',
      `new-history\n${READ}`,
      "say I have renamed it.",
      `${NUDGE.claim}\n${EDIT}`,
      "say I have renamed it.",
    ],
    claims: YES,
    questions: 1,
    text: "omega\n",
  },
  {
    what: "mode auto takes a greeting for plain talk",
    request: "Hello",
    mode: CHOSEN.auto.name,
    script: ['expect a greeting\nsay {"mode": "ask"}', "new-history\nsay Hello. Tell me what to do."],
    questions: 0,
    text: "alpha\n",
  },
  ...[
    "Ich habe alpha in omega umbenannt.",
    "已将 `alpha` 改名为 `omega`。",
    "I have renamed it. [TASK_COMPLETE]",
  ]
    .map((answer) => ({
      what: `a change is claimed: ${answer}`,
      request: "Benenne alpha um",
      script: [READ, `say ${answer}`, `${NUDGE.claim}\n${EDIT}`, `say ${answer}`],
      claims: `expect ${answer.slice(0, 8)}\n${YES}`,
      questions: 1,
      text: "omega\n",
    })),
  {
    what: "a change is claimed again after the nudge: once",
    request: "Benenne alpha um",
    script: ["say Erledigt.", `${NUDGE.claim}\nsay Doch, erledigt.`],
    claims: YES,
    questions: 1,
    text: "alpha\n",
  },
  {
    what: "the answer claims nothing",
    request: "Erkläre a.txt",
    script: [READ, "say Dort steht alpha."],
    questions: 1,
    text: "alpha\n",
  },
  {
    what: "the question whether it claims anything gets nonsense",
    request: "Benenne alpha um",
    script: ["say Erledigt."],
    claims: "say Hm",
    questions: 1,
    text: "alpha\n",
  },
  {
    what: "the question whether it claims anything fails",
    request: "Benenne alpha um",
    script: ["say Erledigt."],
    claims: "status 500",
    questions: 1,
    text: "alpha\n",
  },
  {
    what: "a question is free",
    request: "a.txt には何がありますか？",
    script: [READ, "say alpha"],
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "an answer that asks is free",
    request: "Benenne alpha um",
    script: ["say In was？"],
    questions: 0,
    text: "alpha\n",
  },
  {
    what: "a turn with a change is free",
    request: "Benenne alpha um",
    script: [READ, EDIT, "say Ich habe alpha umbenannt."],
    questions: 0,
    text: "omega\n",
  },
  {
    what: "a mode that changes nothing is free",
    request: "Benenne alpha um",
    script: [READ, "say Ich habe alpha umbenannt."],
    mode: CHOSEN.ask.name,
    questions: 0,
    text: "alpha\n",
  },
];

for (const { what, request, script, claims, mode, canAsk, questions, text } of TURNS) {
  Deno.test(`done means done: ${what}`, async () => {
    await using engine = await startEngine({
      files: FILES,
      script: script.join("\n---\n"),
      ...(claims === undefined ? {} : { claims }),
      ...(canAsk === true ? { abilities: { questions: { ask: () => Promise.resolve(undefined) } } } : {}),
      config: { title: false, ...(mode === undefined ? {} : { mode }) },
    });
    assert.deepEqual(await engine.prompt(request), END_TURN);
    assert.deepEqual(engine.server.problems, []);
    assert.equal(engine.server.requests.length, script.length);
    assert.equal(engine.server.claimRequests.length, questions);
    assert.deepEqual(engine.server.nudgeRequests, []);
    assert.equal(await engine.project.read("a.txt"), text);
  });
}

Deno.test("done means done: what the user has rejected is not tried again", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: [READ, EDIT, "say Verstanden."].join("\n---\n"),
    config: { title: false },
    ask: () => ({ answer: "reject" }),
    fileRules: () => Promise.resolve(ASKS),
  });
  assert.deepEqual(await engine.prompt("Benenne alpha um"), END_TURN);
  assert.equal(engine.server.requests.length, 3);
  assert.deepEqual(engine.server.nudgeRequests, []);
  assert.equal(await engine.project.read("a.txt"), "alpha\n");
});

Deno.test("done means done: a plan of an earlier turn does not turn a question or thanks into work", async () => {
  await using engine = await startEngine({
    files: FILES,
    script: [PLAN, `say Erst ein Plan.`, `${NUDGE.plan}\nsay Morgen.`, READ, "say Ein Schritt.", "say Gern."]
      .join(
        "\n---\n",
      ),
    config: { title: false },
  });
  for (const request of ["Benenne alpha um", "Was ist noch offen?", "Danke"]) {
    assert.deepEqual(await engine.prompt(request), END_TURN);
  }
  assert.equal(engine.server.requests.length, 6);
  assert.deepEqual(engine.server.nudgeRequests, []);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("questions and tasks are told apart by their marks", () => {
  const tasks = ["rename it", "see https://x.org/?a=b and fix it", "make it `a?: b`", "> why?\ndo it"];
  for (const task of tasks) assert.ok(mayBeTask(task), task);
  const questions = ["what is it?", "なぜですか？", "ما هذا؟", "(is it?)", "Why? I wonder."];
  for (const question of questions) assert.ok(!mayBeTask(question), question);
  assert.ok(isQuestion("Shall I?") && isQuestion("**Which?**") && !isQuestion("Why? Because."));
  assert.ok(printsCode("```ts\na\nb\nc\n```") && !printsCode("```text\na\nb\nc\n```"));
});
