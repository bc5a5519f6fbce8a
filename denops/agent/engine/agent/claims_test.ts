import assert from "node:assert/strict";
import { claimsChange } from "./claims.ts";

const CASES: readonly (readonly [request: string, answer: string, claims: boolean])[] = [
  ["rename foo to bar", "I have renamed `foo` to `bar` everywhere.", true],
  ["Please add a test", "I've now added a test for it.", true],
  ["fix the typo in README", "The typo has been fixed.", true],
  ["can you remove the flag?", "I removed it.", true],
  ["rename foo to bar", "I have not renamed it: foo is used outside of the project.", false],
  ["rename foo to bar", "You can rename it like this:\n```\nI have renamed it\n```", false],
  ["rename foo to bar", "It is called bar already.", false],
  ["what have you changed?", "I have renamed foo to bar.", false],
  ["Did you add the test?", "I added it in the turn before.", false],
  ["how does the parser work?", "A node is created, then it has been moved to the tree.", false],
  ["go on", "I have renamed it.", false],
];

for (const [request, answer, claims] of CASES) {
  Deno.test(
    `${claims ? "claims a change" : "claims nothing"}: ${request} ${answer}`.replaceAll("\n", " "),
    () => assert.equal(claimsChange(request, answer), claims),
  );
}
