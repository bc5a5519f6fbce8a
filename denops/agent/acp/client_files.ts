/** Answers the supervisor's questions about open files with the client's fs methods. */
import type { AgentContext } from "../deps/acp_sdk.ts";
import type { EditorQuestion } from "../protocol/ui.ts";
import { FsEditor } from "../shared/fs_editor.ts";
import { oneFile } from "../supervisor/system/one_file.ts";

/** Less than the supervisor waits. A write has limits of its own. */
const LONGEST_WAIT_MS = 3_500;
const LARGEST_FILE = 20 * 2 ** 20;

/** @param canWrite whether the client takes text; it always gives text */
export async function clientFileAnswer(
  client: AgentContext,
  sessionId: string,
  canWrite: boolean,
  question: EditorQuestion,
): Promise<unknown> {
  const editor = new FsEditor({ client, sessionId, readFile });
  const signal = AbortSignal.timeout(LONGEST_WAIT_MS);
  try {
    switch (question.method) {
      case "unsaved_text":
        return unsavedAnswer(await editor.unsavedText(question.params.path, signal));
      case "write_unsaved": {
        const { path, base, text } = question.params;
        if (canWrite) return await editor.writeUnsaved(path, base, text, new AbortController().signal);
        if (await editor.unsavedText(path, signal) === undefined) return { status: "not_open" };
        throw new Error("it has unsaved changes, and this editor takes no text; save it first");
      }
      case "written_since":
        return { files: [] };
      case "editor_view":
        return { unsaved: [] };
      case "lsp":
        return { kind: "nothing", reason: "No language server runs." };
    }
  } catch (error) {
    const isRead = question.method === "unsaved_text";
    throw isRead && signal.aborted ? new Error("the client does not answer") : error;
  }
}

function unsavedAnswer(text: string | undefined) {
  return text === undefined ? {} : { text, save_first: true };
}

/** @throws {Error} for links, pipes and large files, which no editor shows as they are */
async function readFile(path: string): Promise<Uint8Array> {
  const { real, bytes } = await oneFile(path, LARGEST_FILE);
  if (real !== path) throw new Error("it is behind a link");
  return bytes;
}
