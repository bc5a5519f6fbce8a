/** The part of picomatch 4 that is used here. Source: github.com/micromatch/picomatch, README.md. */

export interface Options {
  /** Match names that begin with a dot too. */
  readonly dot?: boolean;
  readonly nocase?: boolean;
  /** Throw where a bracket is not closed. */
  readonly strictBrackets?: boolean;
}

interface Picomatch {
  /** A function that tells whether a path matches any of the globs. */
  (globs: string | string[], options?: Options): (path: string) => boolean;
  makeRe(glob: string, options?: Options): RegExp;
  isMatch(path: string, globs: string | string[], options?: Options): boolean;
}

declare const picomatch: Picomatch;
export default picomatch;
