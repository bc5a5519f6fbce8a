/** Random lines for a shell that change a small project in every way that programs do, the same each time. */
import fc from "fast-check";

/** Files that the sequences begin with. */
export const START: Readonly<Record<string, string>> = {
  "a": "one\ntwo\n",
  "b c": "three\n",
  "d/a": "four\n",
  "d/e/f": "five\n",
  "d/e/g": "",
  "n\nl/ü": "six\n",
  "full/1": "1",
  "full/2": "2",
};

const name = fc.constantFrom("a", "b c", "d", "e", "f", "g", "n\nl", "ü", "full", "new", "-x", "*");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => quoted(`./${names.join("/")}`));
const folder = fc.constantFrom("d", "d/e", "full", "n\nl").map((at) => quoted(`./${at}`));
const file = fc.constantFrom(...Object.keys(START)).map((at) => quoted(`./${at}`));
export const place = fc.oneof(file, folder, path);
const mode = fc.constantFrom("600", "644", "755", "444", "711", "u+s", "a-w");
const folderMode = fc.constantFrom("700", "711", "755", "g+s");
const text = fc.constantFrom("x", "hello", "").map(quoted);

const step: fc.Arbitrary<string> = fc.oneof(
  place.map((at) => `touch ${at}`),
  fc.tuple(text, place).map(([said, at]) => `echo ${said} > ${at}`),
  fc.tuple(text, place).map(([said, at]) => `echo ${said} >> ${at}`),
  place.map((at) => `rm ${at}`),
  place.map((at) => `rm -r ${at}`),
  place.map((at) => `rm -rf ${at} && mkdir ${at} && echo again > ${at}/a`),
  fc.tuple(place, place).map(([from, to]) => `mv ${from} ${to}`),
  fc.tuple(place, place).map(([from, to]) => `cp ${from} ${to}`),
  // A folder that is copied into itself is copied as far as it was read: in no certain order.
  fc.tuple(folder, fc.nat(3)).map(([from, number]) => `cp -r ${from} copy${number}`),
  fc.tuple(place, place).map(([from, to]) => `ln ${from} ${to}`),
  fc.tuple(place, place).map(([from, to]) => `ln -s ${from} ${to}`),
  place.map((at) => `mkdir -p ${at}`),
  fc.tuple(mode, file).map(([bits, at]) => `chmod ${bits} ${at}`),
  fc.tuple(folderMode, folder).map(([bits, at]) => `chmod ${bits} ${at}`),
  fc.tuple(fc.nat(9_000), place).map(([size, at]) => `truncate -s ${size} ${at}`),
  place.map((at) => `sed -i s/o/0/ ${at}`),
  fc.constantFrom("git add -A", "git stash -q", "git checkout -q .", "git clean -qfd", "git reset -q --hard"),
  fc.nat(9).map((number) => `git add -A && git commit -qm ${number}`),
  place.map((at) => `git mv a ${at}`),
);

/** Two runs of a sequence differ in inodes and in the second of each ctime, from which git would see changes. */
const ONLY_BY_MTIME =
  "GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.trustctime GIT_CONFIG_VALUE_0=false GIT_CONFIG_KEY_1=core.checkStat GIT_CONFIG_VALUE_1=minimal";

const FIXED =
  `export ${ONLY_BY_MTIME} GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' GIT_COMMITTER_DATE='2001-01-01T00:00:00Z'
export GIT_CONFIG_GLOBAL=/dev/null HOME=/ LC_ALL=C; umask 022; exec 2>&1 </dev/null`;

/**
 * Steps that only the last may be. Programs wait for the other end of a named pipe. An overlay copies a folder to move
 * it, and cannot copy a closed one.
 */
const last = fc.oneof(
  fc.tuple(fc.constantFrom("000", "500"), fc.oneof(file, folder)).map(([bits, at]) => `chmod ${bits} ${at}`),
  place.map((at) => `mkfifo ${at}`),
);

/** Lines of which some fail. */
export const sequences: fc.Arbitrary<readonly string[]> = fc.tuple(
  fc.array(step, { minLength: 1, maxLength: 12 }),
  fc.array(last, { maxLength: 2 }),
).map((parts) => parts.flat());

export function script(steps: readonly string[]): string {
  return [FIXED, ...steps].join("\n");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
