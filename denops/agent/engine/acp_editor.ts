/** The editor on the other side of the protocol: ours by its extensions, any other by ACP's fs methods. */
import { type AgentContext, methods } from "@agentclientprotocol/sdk";
import {
  LSP,
  UNSAVED_TEXT,
  UnsavedTextResponse,
  WRITE_UNSAVED,
  WriteUnsavedResponse,
} from "../protocol/extensions.ts";
import { type LspQuestion, LspResponse } from "../protocol/lsp.ts";
import { messageOf } from "./core/errors.ts";
import type { Editor, LanguageServers, UnsavedWrite } from "./core/ports.ts";
import { decodeText } from "./tools/files/text.ts";

/** An editor that does not answer within this time is taken for one with nothing open. */
const LONGEST_WAIT_MS = 5_000;
/** A language server may have to start, and then has five seconds to answer. */
const LONGEST_LSP_MS = 32_000;

/** Our own UI: it knows which buffers have unsaved changes, and merges. */
export function extensionEditor(client: AgentContext, sessionId: string): Editor {
  return {
    async unsavedText(path, signal) {
      const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
      const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
      const answer = await client.request<unknown, unknown>(UNSAVED_TEXT, { sessionId, path }, options);
      return UnsavedTextResponse.parse(answer).text;
    },
    async writeUnsaved(path, base, text, signal) {
      const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
      const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
      const answer = await client.request<unknown, unknown>(
        WRITE_UNSAVED,
        { sessionId, path, base, text },
        options,
      );
      return WriteUnsavedResponse.parse(answer);
    },
  };
}

/** Our own UI: it asks Neovim's language clients. */
export function extensionServers(client: AgentContext, sessionId: string): LanguageServers {
  return {
    async ask(request, signal) {
      const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_LSP_MS)]);
      const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
      const question: LspQuestion = { sessionId, request };
      try {
        return LspResponse.parse(await client.request<unknown, unknown>(LSP, question, options));
      } catch (error) {
        signal.throwIfAborted();
        return {
          kind: "nothing",
          reason: `The editor gave no answer about its language servers: ${messageOf(error)}`,
        };
      }
    },
  };
}

/** Any ACP editor that offers fs/read_text_file and fs/write_text_file. */
export function fsEditor(client: AgentContext, sessionId: string): Editor {
  const unsaved = async (path: string): Promise<string | undefined> => {
    const shown = await client.request(methods.client.fs.readTextFile, { sessionId, path })
      .then(({ content }) => content, () => undefined);
    if (shown === undefined) return undefined;
    const onDisk = await Deno.readFile(path).then((bytes) => decodeText(bytes)?.text, () => undefined);
    return shown === onDisk ? undefined : shown;
  };
  return {
    unsavedText: unsaved,
    async writeUnsaved(path, base, text): Promise<UnsavedWrite> {
      const current = await unsaved(path);
      if (current === undefined) return { status: "not_open" };
      if (current !== base) return { status: "conflict", text: `The editor's text is now:\n${current}` };
      await client.request(methods.client.fs.writeTextFile, { sessionId, path, content: text });
      return { status: "merged", text, saved: true };
    },
  };
}

export const noEditor: Editor = {
  unsavedText: () => Promise.resolve(undefined),
  writeUnsaved: () => Promise.resolve({ status: "not_open" }),
};
