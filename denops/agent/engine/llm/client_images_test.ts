/** What becomes of a request whose images the provider refuses. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { assistant, call, PNG_IMAGE, request, result, user } from "../../../../tests/support/histories.ts";
import { listen } from "../../../../tests/support/model_client.ts";

const withImage = request([
  user("Hi"),
  assistant("", [call("c1", "read_file", "{}")]),
  { ...result("c1", "read_file", "An image."), images: [PNG_IMAGE] },
]);

/** As the servers word it. */
const IMAGE_REFUSALS: readonly (readonly [status: number, message: string])[] = [
  [
    400,
    "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 6096280 bytes > 5242880 bytes",
  ],
  [400, "Could not process image"],
  [400, "Invalid content type. image_url is only supported by certain models."],
  [400, "unknown variant `image_url`, expected `text`"],
  [400, "model-1 is not a multimodal model"],
  [400, "'messages.2' : for 'role:user' the content must be a string"],
  [400, "Output of tool call should be 'Input text'"],
  [400, "Conversation roles must alternate user/assistant/user/assistant/..."],
  [400, "Unexpected role 'user' after role 'tool'"],
  [404, "No endpoints found that support image input"],
  [413, "Request exceeds the maximum size"],
  [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
];

Deno.test("a model that refuses images is asked again without, once", async () => {
  for (const [status, message] of IMAGE_REFUSALS) {
    const refusal = `status ${status} ${JSON.stringify({ error: { message } })}`;
    await using server = await ModelServer.start(`${refusal}\n---\nsay Fine\nnew-history`);
    const heard = await listen(server.url, { request: withImage });
    assert.equal(heard.text, "Fine", message);
    assert.deepEqual(heard.retries, []);
    assert.ok(heard.refused.includes("images"));
    const carried = server.requests.map(({ body }) => JSON.stringify(body).includes(PNG_IMAGE.data));
    assert.deepEqual(carried, [true, false]);
  }
});

Deno.test("another refusal is not taken for one of the images", async () => {
  for (const refusal of ["401 no image for you", "400 The context is too long"]) {
    await using server = await ModelServer.start(`status ${refusal}`);
    const heard = await listen(server.url, { request: withImage });
    assert.equal(heard.end, "failed");
    assert.deepEqual(heard.refused, []);
    assert.equal(server.requests.length, 1);
  }
  await using server = await ModelServer.start("status 400 Could not process image");
  const heard = await listen(server.url);
  assert.equal(heard.error?.kind, "bad_request");
  assert.deepEqual(heard.refused, []);
  assert.equal(server.requests.length, 1);
});
