import { GIF_IMAGE, PNG_IMAGE } from "../../../../../tests/support/histories.ts";
import { testsOfMessages } from "../../../../../tests/support/wire_play.ts";

testsOfMessages("openai_chat", {
  "a question": [{ role: "user", content: "Hi" }],
  "a question after an answer": [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello. " },
    { role: "user", content: "Bye" },
  ],
  "text and two calls with their results": [
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: "I look.\n",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path": "a.ts"}' } },
        { id: "c2", type: "function", function: { name: "read_file", arguments: '{"path":"b.ts"}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "1\ta" },
    { role: "tool", tool_call_id: "c2", content: "b.ts does not exist." },
  ],
  "images of two results": [
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "read_files", arguments: "{}" } },
        { id: "c2", type: "function", function: { name: "read_file", arguments: '{"path":"b.ts"}' } },
        { id: "c3", type: "function", function: { name: "read_file", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "Two images." },
    { role: "tool", tool_call_id: "c2", content: "1\tb" },
    { role: "tool", tool_call_id: "c3", content: "An image." },
    {
      role: "user",
      content: [
        { type: "text", text: "Image a.png, from the result of read_files (call c1):" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_IMAGE.data}` } },
        { type: "text", text: "Image b.gif, from the result of read_files (call c1):" },
        { type: "image_url", image_url: { url: `data:image/gif;base64,${GIF_IMAGE.data}` } },
        { type: "text", text: "Image b.gif, from the result of read_file (call c3):" },
        { type: "image_url", image_url: { url: `data:image/gif;base64,${GIF_IMAGE.data}` } },
      ],
    },
    { role: "assistant", content: "I see." },
    { role: "user", content: "What?" },
  ],
  "calls without text": [
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "list_directory", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "" },
  ],
  "an answer with nothing in it": [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "[Reasoning completed]" },
    { role: "user", content: "Well?" },
  ],
  "broken arguments": [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: {
            name: "edit_file",
            arguments: '{"invalid_json":"{\\"path\\": \\"a.ts\\", \\"old_str\\": \\"x"}',
          },
        },
        { id: "c2", type: "function", function: { name: "think", arguments: '{"invalid_json":"hm"}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "The arguments are not valid JSON." },
    { role: "tool", tool_call_id: "c2", content: "The arguments are not valid JSON." },
  ],
  "arguments that were repaired": [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: "",
      tool_calls: [{
        id: "c1",
        type: "function",
        function: { name: "read_file", arguments: '{"path":"a.ts"}' },
      }],
    },
    { role: "tool", tool_call_id: "c1", content: "1\ta" },
  ],
  "a tool that the model made up": [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: "",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "functions_read_file", arguments: "{}" } },
        { id: "c2", type: "function", function: { name: "unknown", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "There is no such tool." },
    { role: "tool", tool_call_id: "c2", content: "There is no such tool." },
  ],
  "reasoning": [
    { role: "user", content: "Think" },
    {
      role: "assistant",
      content: "So.",
      tool_calls: [{
        id: "c1",
        type: "function",
        function: { name: "read_file", arguments: '{"path": "a.ts"}' },
      }],
    },
    { role: "tool", tool_call_id: "c1", content: "1\ta" },
  ],
  "reasoning between what it led to": [
    { role: "user", content: "Think" },
    {
      role: "assistant",
      content: "First. Then.",
      tool_calls: [
        { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path": "a.ts"}' } },
        { id: "c2", type: "function", function: { name: "read_file", arguments: '{"path":"b.ts"}' } },
      ],
    },
    { role: "tool", tool_call_id: "c1", content: "1\ta" },
    { role: "tool", tool_call_id: "c2", content: "1\tb" },
  ],
  "what the provider wants back with a call": [
    { role: "user", content: "Look" },
    {
      role: "assistant",
      content: "",
      tool_calls: [{
        id: "c1",
        type: "function",
        function: { name: "read_file", arguments: '{"path": "a.ts"}' },
        extra_content: { google: { thought_signature: "c2ln" } },
      }],
    },
    { role: "tool", tool_call_id: "c1", content: "1\ta" },
  ],
});
