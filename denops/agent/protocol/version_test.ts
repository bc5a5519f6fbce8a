import assert from "node:assert/strict";
import { denoProblem } from "./version.ts";

Deno.test("a Deno that is too old is told apart", () => {
  for (const version of ["2.8.0", "2.10.1", "3.0.0", "2.9.6"]) assert.equal(denoProblem(version), undefined);
  for (const version of ["2.7.9", "2.3.7", "1.46.3"]) {
    assert.match(denoProblem(version) ?? "", new RegExp(`needs Deno 2.8 or newer, and this is ${version}`));
  }
});
