import assert from "node:assert/strict";
import type { ContentBlock } from "../deps/acp_sdk.ts";
import { promptMessage } from "./prompt.ts";

const context = { root: "/p", readsFiles: true };
const link = (uri: string): ContentBlock => ({ type: "resource_link", uri, name: "name" });
const resource = (uri: string): ContentBlock => ({ type: "resource", resource: { uri, text: "text" } });

Deno.test("links to files of the project are attachments, with their lines", () => {
  const attachments = (uri: string) => promptMessage([link(uri)], context).attachments;
  assert.deepEqual(attachments("file:///p/src/a%20b.ts"), [{ type: "file", path: "/p/src/a b.ts" }]);
  assert.deepEqual(attachments("file:///p/a.ts#L3"), [{ type: "file", path: "/p/a.ts", first: 3 }]);
  assert.deepEqual(attachments("file:///p/a.ts#L3:5"), [{
    type: "file",
    path: "/p/a.ts",
    first: 3,
    last: 5,
  }]);
  assert.deepEqual(attachments("file:///p/a.ts?symbol=x#L3-L5"), [{
    type: "file",
    path: "/p/a.ts",
    first: 3,
    last: 5,
  }]);
  assert.deepEqual(attachments("/p/src/"), [{ type: "file", path: "/p/src" }]);
  for (
    const other of [
      "file:///etc/passwd",
      "file:///p2/a",
      "https://example.com",
      "file:///p/../etc/passwd",
      "no uri",
    ]
  ) {
    assert.deepEqual(attachments(other), [], other);
  }
});

Deno.test("links stand between the words; separate texts are separate lines", () => {
  const text = (value: string): ContentBlock => ({ type: "text", text: value });
  const message = promptMessage(
    [text("Look at "), link("file:///p/a.ts"), text(", then"), text("stop")],
    context,
  );
  assert.equal(message.text, "Look at a.ts, then\nstop");
  const glued = promptMessage([text("look"), link("file:///p/.env")], context);
  assert.equal(glued.text, "look\n.env");
});

Deno.test("embedded text is used unless the engine reads the editor's", () => {
  const attachments = (uri: string, readsFiles: boolean) =>
    promptMessage([resource(uri)], { root: "/p", readsFiles }).attachments;
  assert.deepEqual(attachments("file:///p/a.ts", true), [{ type: "file", path: "/p/a.ts" }]);
  assert.deepEqual(attachments("file:///p/a.ts", false), [{ type: "text", label: "a.ts", text: "text" }]);
  assert.deepEqual(attachments("file:///q/a\n.ts", true)[0]?.type, "text");
});
