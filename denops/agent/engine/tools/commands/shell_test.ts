import assert from "node:assert/strict";
import { AGENT_SECTIONS } from "../../context/sections.ts";
import { run } from "../run.ts";
import { changeText, NEW_SHELL } from "./shell.ts";

Deno.test("the tool and the prompt name the shell that there is", () => {
  assert.match(run.spec.description, /^Run a shell command \(bash\) /);
  assert.match(run.specIn("bash 3.2").description, /^Run a shell command \(bash 3\.2\) /);
  assert.deepEqual({ ...run.specIn("sh"), description: "" }, { ...run.spec, description: "" });
  const section = AGENT_SECTIONS.find(({ name }) => name === "environment");
  const inputs = {
    ...{ family: "default", oneByOne: false, isSubagent: false },
    project: { rules: [], manifests: [], tree: "", mark: "x" },
  } as const;
  const textIn = (shell?: string) =>
    section?.text(
      Object({ ...inputs, environment: { roots: ["/p"], os: "linux", shell, sandboxed: false } }),
    );
  assert.match(textIn("sh") ?? "", /\nCommands run in sh without a sandbox/);
  assert.match(textIn() ?? "", /\nCommands run in bash without a sandbox/);
});

Deno.test("the model hears of changes once, in few lines whatever the values are", () => {
  const many = Array.from({ length: 30 }, (_, at) => [`V${at}`, `x${"y".repeat(500)}`] as const);
  const state = { exports: many, dropped: ["HOME"], activation: { before: ["/p"], after: ["/q/bin"] } };
  const text = changeText(NEW_SHELL, state, ["/p", "/q"]);
  assert.match(text, /^\n\[the next commands start with \. in front of PATH, q\/bin behind PATH, V0=xy+…, /);
  assert.match(text, /, 20 more variables\]\n\[not carried over to the next commands: HOME\]$/);
  assert.ok(text.length < 2_000);
  assert.equal(changeText(state, { ...state, dropped: ["HOME"] }, ["/p"]), "");
  assert.match(changeText(state, NEW_SHELL, ["/p"]), /without the variables of earlier ones\]$/);
});
