/** Embeddings for the index, by the user's model: its key and its host stay here. */
import { embed } from "../../../models/embeddings.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { findProvider } from "../../agents/provider.ts";
import type { ClientContext } from "../context.ts";

export function embeddingAnswers(client: ClientContext): Pick<EngineAnswers, "embed"> {
  const { ports: { ownerOf, world }, permissions: { roots, user } } = client;
  return {
    async embed(sessionId, { texts }, signal) {
      const { embeddings } = user;
      if (embeddings === undefined) throw new Error("The option search.embeddings is not set.");
      if (ownerOf(sessionId) === undefined) throw new Error("The chat is closed.");
      const provider = await findProvider(user, embeddings.provider, world, roots);
      const fetch = (url: string, init: RequestInit) => world.fetch(url, init);
      const vectors = await embed(provider, embeddings.model, texts, fetch, signal);
      return { vectors: vectors.map((vector) => new Uint8Array(vector.buffer).toBase64()) };
    },
  };
}
