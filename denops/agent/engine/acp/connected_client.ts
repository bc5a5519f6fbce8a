/** The client of this connection: its capabilities and its configuration. */
import { type AgentContext, type InitializeRequest, RequestError } from "../../deps/acp_sdk.ts";
import * as z from "../../deps/zod.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { InitializeMeta, ours } from "../../protocol/extensions.ts";
import { messageOf } from "../../shared/errors.ts";
import type { Editor } from "../ports/editor.ts";
import { FsEditor } from "../../shared/fs_editor.ts";
import { readWhole } from "../tools/files/disk.ts";
import { noEditor, screenEditor } from "./editor.ts";
import { Screen } from "./screen.ts";
import type { Capabilities } from "./updates.ts";

/** @returns the configuration for clients that send none @throws {Error} one line */
type OwnConfig = () => EngineConfig | undefined;

export class ConnectedClient {
  readonly #ownConfig: OwnConfig;
  #can: Capabilities = {
    extensions: new Set(),
    notices: false,
    readFiles: false,
    writeFiles: false,
    terminals: false,
    questions: false,
  };
  #config: EngineConfig | undefined;

  constructor(ownConfig: OwnConfig) {
    this.#ownConfig = ownConfig;
  }

  initialize(params: InitializeRequest): void {
    this.#can = capabilitiesOf(params);
    this.#config = ours(InitializeMeta, params._meta)?.config;
  }

  get can(): Capabilities {
    return this.#can;
  }

  /** @throws {RequestError} one line, if the client has no configuration */
  get config(): EngineConfig {
    try {
      const config = this.#config ?? this.#ownConfig();
      if (config !== undefined) return config;
    } catch (error) {
      throw new RequestError(-32602, messageOf(error));
    }
    throw new RequestError(-32602, "No model is configured. Set AGENT_CONFIG to a JSON configuration.");
  }

  /** Days after which unused sessions expire. An invalid configuration is reported when a session begins. */
  get keepDays(): number | undefined {
    try {
      return this.config.keep_sessions_days;
    } catch {
      return undefined;
    }
  }

  /** Custom modes from files; ignored for a client without a configuration. */
  set modes(modes: EngineConfig["modes"]) {
    if (this.#config !== undefined) this.#config = { ...this.#config, modes };
  }

  editorOf(client: AgentContext, sessionId: string): Editor {
    const { extensions, readFiles, writeFiles } = this.#can;
    const screen = new Screen(client, sessionId, extensions);
    if (screen.has("unsaved_text") && screen.has("write_unsaved")) return screenEditor(screen);
    if (!readFiles || !writeFiles) return noEditor;
    const makeFolder = (folder: string) => Deno.mkdir(folder, { recursive: true });
    return new FsEditor({ client, sessionId, readFile: readWhole, makeFolder });
  }
}

function capabilitiesOf({ clientCapabilities, _meta }: InitializeRequest): Capabilities {
  const offered = ours(InitializeMeta, _meta)?.extensions ??
    ours(z.object({ extensions: z.array(z.string()) }), clientCapabilities?._meta)?.extensions ?? [];
  return {
    extensions: new Set(offered),
    notices: Boolean(clientCapabilities?.session?.notices),
    readFiles: clientCapabilities?.fs?.readTextFile === true,
    writeFiles: clientCapabilities?.fs?.writeTextFile === true,
    terminals: clientCapabilities?.terminal === true,
    questions: Boolean(clientCapabilities?.elicitation?.form),
  };
}
