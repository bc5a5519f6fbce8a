/**
 * The part of @denops/std's types that main.ts and standalone.ts use, for type checks where JSR is not reached.
 * CI checks both files against the real package too. Source: jsr.io/@denops/core, version 8, type.ts.
 */

export type Dispatcher = { [key: string]: (...args: unknown[]) => unknown };

export type Context = Record<string, unknown>;

export interface Meta {
  readonly mode: "release" | "debug" | "test";
  readonly host: "vim" | "nvim";
  readonly version: string;
  readonly platform: "windows" | "mac" | "linux";
}

export interface Denops {
  readonly name: string;
  readonly meta: Meta;
  readonly context: Record<string | number | symbol, unknown>;
  readonly interrupted?: AbortSignal;
  dispatcher: Dispatcher;
  redraw(force?: boolean): Promise<void>;
  call(fn: string, ...args: unknown[]): Promise<unknown>;
  batch(...calls: [string, ...unknown[]][]): Promise<unknown[]>;
  cmd(cmd: string, ctx?: Context): Promise<void>;
  eval(expr: string, ctx?: Context): Promise<unknown>;
  dispatch(name: string, fn: string, ...args: unknown[]): Promise<unknown>;
}

export type Entrypoint = (denops: Denops) => void | AsyncDisposable | Promise<void | AsyncDisposable>;
