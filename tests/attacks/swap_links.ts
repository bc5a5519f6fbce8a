/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** A worker that makes a folder of a project a link to another place and back, as fast as it can. */

/** Shared with the test: not 0 ends the worker. */
export interface SwapRequest {
  /** "dir" is a folder, "link" a link. */
  readonly root: string;
  readonly over: SharedArrayBuffer;
}

self.onmessage = ({ data: { root, over } }: MessageEvent<SwapRequest>) => {
  const stop = new Int32Array(over);
  const rename = (from: string, to: string) => Deno.renameSync(`${root}/${from}`, `${root}/${to}`);
  self.postMessage("ready");
  while (Atomics.load(stop, 0) === 0) {
    rename("dir", "folder");
    rename("link", "dir");
    rename("dir", "link");
    rename("folder", "dir");
  }
  self.postMessage("done");
};
