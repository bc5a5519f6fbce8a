import { GIF_IMAGE, PNG_IMAGE } from "../../../../../tests/support/histories.ts";
import { testsOfMessages } from "../../../../../tests/support/wire_play.ts";

const ephemeral = { cache_control: { type: "ephemeral" } };

testsOfMessages("anthropic_messages", {
  "a question": [{ role: "user", content: [{ type: "text", text: "Hi", ...ephemeral }] }],
  "a question after an answer": [
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    { role: "assistant", content: [{ type: "text", text: "Hello.", ...ephemeral }] },
    { role: "user", content: [{ type: "text", text: "Bye", ...ephemeral }] },
  ],
  "text and two calls with their results": [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" } },
        { type: "tool_use", id: "c2", name: "read_file", input: { path: "b.ts" }, ...ephemeral },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "1\ta" },
        {
          type: "tool_result",
          tool_use_id: "c2",
          content: "b.ts does not exist.",
          is_error: true,
          ...ephemeral,
        },
      ],
    },
  ],
  "images of two results": [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "c1", name: "read_files", input: {} },
        { type: "tool_use", id: "c2", name: "read_file", input: { path: "b.ts" } },
        { type: "tool_use", id: "c3", name: "read_file", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: [
            { type: "text", text: "Two images." },
            { type: "text", text: "a.png:" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: PNG_IMAGE.data } },
            { type: "text", text: "b.gif:" },
            { type: "image", source: { type: "base64", media_type: "image/gif", data: GIF_IMAGE.data } },
          ],
        },
        { type: "tool_result", tool_use_id: "c2", content: "1\tb" },
        {
          type: "tool_result",
          tool_use_id: "c3",
          content: [
            { type: "text", text: "An image." },
            { type: "text", text: "b.gif:" },
            { type: "image", source: { type: "base64", media_type: "image/gif", data: GIF_IMAGE.data } },
          ],
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "I see.", ...ephemeral }] },
    { role: "user", content: [{ type: "text", text: "What?", ...ephemeral }] },
  ],
  "calls without text": [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "list_directory", input: {}, ...ephemeral }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "", ...ephemeral }] },
  ],
  "an answer with nothing in it": [
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    { role: "assistant", content: [{ type: "text", text: "[Reasoning completed]", ...ephemeral }] },
    { role: "user", content: [{ type: "text", text: "Well?", ...ephemeral }] },
  ],
  "broken arguments": [
    { role: "user", content: [{ type: "text", text: "Go" }] },
    {
      role: "assistant",
      content: [
        {
          type: "tool_use",
          id: "c1",
          name: "edit_file",
          input: { invalid_json: '{"path": "a.ts", "old_str": "x' },
        },
        { type: "tool_use", id: "c2", name: "think", input: { invalid_json: "hm" }, ...ephemeral },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: "The arguments are not valid JSON.",
          is_error: true,
        },
        {
          type: "tool_result",
          tool_use_id: "c2",
          content: "The arguments are not valid JSON.",
          is_error: true,
          ...ephemeral,
        },
      ],
    },
  ],
  "arguments that were repaired": [
    { role: "user", content: [{ type: "text", text: "Go" }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" }, ...ephemeral }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "1\ta", ...ephemeral }] },
  ],
  "a tool that the model made up": [
    { role: "user", content: [{ type: "text", text: "Go" }] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "c1", name: "functions_read_file", input: {} },
        { type: "tool_use", id: "c2", name: "unknown", input: {}, ...ephemeral },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "There is no such tool.", is_error: true },
        {
          type: "tool_result",
          tool_use_id: "c2",
          content: "There is no such tool.",
          is_error: true,
          ...ephemeral,
        },
      ],
    },
  ],
  "reasoning": [
    { role: "user", content: [{ type: "text", text: "Think" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "redacted_thinking", data: "ZGF0YQ==" },
        { type: "text", text: "So." },
        { type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" }, ...ephemeral },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "1\ta", ...ephemeral }] },
  ],
  "reasoning between what it led to": [
    { role: "user", content: [{ type: "text", text: "Think" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "First. Then." },
        { type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" } },
        { type: "tool_use", id: "c2", name: "read_file", input: { path: "b.ts" }, ...ephemeral },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "1\ta" },
        { type: "tool_result", tool_use_id: "c2", content: "1\tb", ...ephemeral },
      ],
    },
  ],
  "what the provider wants back with a call": [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c1", name: "read_file", input: { path: "a.ts" }, ...ephemeral }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "1\ta", ...ephemeral }] },
  ],
});
