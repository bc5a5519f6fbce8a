/** tar, rsync and the editors: tools with options that run other programs. */
import { find, has, names, readArguments, valuesOf } from "./options.ts";
import { oddOption } from "./programs.ts";
import { judgeDelete, judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";

const RUNS = judged("high", "makes it start another program", { writes: true });
const REMOTE = judged("high", "copies files to or from another machine", { network: true, writes: true });

/** Hands the values of options that are commands to the scene. */
function runValues(values: readonly string[], scene: Scene): Judgement {
  for (const value of values) scene.shell(value);
  return values.length > 0 ? RUNS : HARMLESS;
}

const TAR_VALUED =
  "-f -C -I -T -X -b -g -F -H -K -L -N -V --file --directory --use-compress-program --files-from --exclude-from --exclude --to-command --checkpoint-action --rsh-command --info-script --new-volume-script --rmt-command --transform --strip-components --owner --group --mode --warning --format";

/** With these alone a listing is no more than that. */
const TAR_LISTS = names(
  "-t -f -v -z -j -J -Z -a -C -X -T -I --list --file --verbose --gzip --bzip2 --xz --zstd --lzma --auto-compress --exclude --exclude-from --wildcards --no-wildcards --directory --use-compress-program --force-local --full-time --numeric-owner --strip-components --show-transformed-names --totals --utc --checkpoint-action --to-command --info-script",
);

export const judgeTar: Judge = (args, scene) => {
  // The old way has no dash, and its values follow in the order of the letters: tar xzfC a.tgz dir.
  const [first = "", ...rest] = args;
  const old = /^[A-Za-z]+$/.test(first);
  const letters = old ? [...first] : [];
  const taken = letters.filter((letter) => /[fCITXbgFHKLNV]/.test(letter));
  const modern = old
    ? [
      ...letters.filter((letter) => !taken.includes(letter)).map((letter) => `-${letter}`),
      ...taken.flatMap((letter, index) => [`-${letter}`, rest[index] ?? ""]),
      ...rest.slice(taken.length),
    ]
    : args;
  const given = readArguments(modern, TAR_VALUED);
  const actions = valuesOf(given, "--checkpoint-action").filter((value) =>
    !/^(echo|dot|bell|ttyout|sleep|wait)/.test(value)
  );
  const found = [
    runValues(
      valuesOf(given, "--to-command --rsh-command --info-script --new-volume-script --rmt-command -F"),
      scene,
    ),
    runValues(actions.map((action) => action.replace(/^exec=/, "")), scene),
  ];
  const packer = valuesOf(given, "-I --use-compress-program");
  if (packer.some((value) => !/^(zstd|gzip|pigz|xz|bzip2|lz4|lzip|pixz|pbzip2)( -[\dT]+)*$/.test(value))) {
    found.push(runValues(packer, scene));
  }
  if (has(given, "-P --absolute-names --remove-files --unlink-first --recursive-unlink")) {
    found.push(judged("high", "may overwrite or delete files outside of the folder", { writes: true }));
  }
  if (valuesOf(given, "-f --file").some((file) => /^[^/]+:/.test(file)) && !has(given, "--force-local")) {
    found.push(judged("high", "asks another machine", { network: true }));
  }
  if (has(given, "-t --list") && given.options.every(({ name }) => TAR_LISTS.has(name))) {
    return worst(...found);
  }
  const targets = [
    ...valuesOf(given, "-C --directory"),
    ...(has(given, "-c --create -r -u") ? valuesOf(given, "-f --file") : []),
  ];
  for (const path of targets.filter((one) => one !== "-")) {
    found.push(judgeWrite(path, scene.folders, scene.places));
  }
  for (const path of given.operands) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(judged("medium", "packs or unpacks files", { writes: true }), ...found);
};

export const judgeRsync: Judge = (args, scene) => {
  const given = readArguments(
    args,
    "-e -f -T -B -M --rsh --filter --exclude --include --files-from --rsync-path --log-file --temp-dir --port --password-file",
  );
  const target = given.operands.at(-1) ?? UNKNOWN;
  const found = [judged("medium", "copies files", { writes: true })];
  found.push(runValues(valuesOf(given, "--rsync-path"), scene));
  const shell = valuesOf(given, "-e --rsh").filter((value) =>
    !/^ssh( -[pi46] ?\S+| -[46CqTx]+)*$/.test(value)
  );
  found.push(runValues(shell, scene));
  if (given.operands.some((one) => /^[^/]*:/.test(one) || one.startsWith("rsync://"))) found.push(REMOTE);
  else found.push(judgeWrite(target, scene.folders, scene.places));
  if (args.some((arg) => arg.startsWith("--del")) || has(given, "--remove-source-files")) {
    found.push(judged("high", "deletes files", { writes: true }));
    if (!target.includes(":")) {
      const all = judgeDelete(target, true, scene.folders, scene.places);
      if (!/^(\.\/?)?$/.test(target)) found.push(all);
    }
  }
  for (const path of given.operands.slice(0, -1)) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(...found);
};

export const judgeZip: Judge = (args, scene) => {
  const given = readArguments(args, "-TT -b -i -x -n -t --unzip-command");
  const at = args.findIndex((arg) => arg === "-TT" || "--unzip-command".startsWith(arg) && arg.length > 3);
  return worst(
    judged("medium", "packs files", { writes: true }),
    runValues(at < 0 ? [] : [args[at + 1] ?? ""], scene),
    ...given.operands.slice(0, 1).map((path) => judgeWrite(path, scene.folders, scene.places)),
  );
};

/** vi, vim, nvim, ex, ed, less and more: `-c '!cmd'`, `+!cmd`, `-c 'call system(…)'`. */
export const judgeEditor: Judge = (args, scene, name) => {
  const pager = /^(less|more|most|man)$/.test(name);
  const given = readArguments(
    args,
    pager
      ? "-P -p -o -O -k -T"
      : "-c -S -u -U -i -w -W -l -T -r --cmd --listen --server --remote-send --remote-expr",
  );
  const commands = [
    ...(pager ? [] : valuesOf(given, "-c --cmd --remote-send --remote-expr -S -l")),
    ...args.filter((arg) => arg.startsWith("+")).map((arg) => arg.slice(1)),
  ].filter((command) =>
    !/^[\d/$]?[\w ]*$/.test(command) || /\b(system|execute|lua|py|source|write|w|wq|x)\b/.test(command)
  );
  const found: Judgement[] = [];
  for (const command of commands) {
    found.push(judged("high", `gives ${name} commands`, { writes: true }));
    const text = command.replace(/^:*\s*(silent|sil)?!?\s*/, "");
    scene.shell(command.includes("!") ? command.slice(command.indexOf("!") + 1) : text);
  }
  if (name === "man") found.push(runValues(valuesOf(given, "-P --pager"), scene));
  const odd = pager
    ? oddOption(args.filter((arg) => !arg.startsWith("+")), {
      base: ["none", ""],
      valued: name === "man" ? "-s -S -M -m -L --sections" : "-p -x -j -z -b -h -y",
      harmless: name === "man"
        ? "-k -f -w -W -a -s -S -M -m -L -K -i -I -7 -P --pager --apropos --whatis --where --path --all --sections --no-hyphenation --nj --nh"
        : "-a -A -B -c -C -d -e -E -f -F -g -G -i -I -J -K -m -M -n -N -p -q -Q -r -R -s -S -u -U -w -W -x -X -z -j -b -h -y --RAW-CONTROL-CHARS --no-init --quit-if-one-screen --chop-long-lines --LINE-NUMBERS --ignore-case",
    })
    : undefined;
  if (odd !== undefined) {
    found.push(judged("high", `makes ${name} write files or start programs by ${odd}`, { writes: true }));
  }
  if (
    !pager &&
    (find(given, "-s -S -u -l --headless -es --listen") !== undefined || scene.input.kind === "text")
  ) {
    found.push(judged("high", `gives ${name} a script`, { writes: true }));
    if (scene.input.kind === "text") {
      for (const [, text = ""] of scene.input.text.matchAll(/^\s*:?(?:r\s*)?!(.*)$/gm)) scene.shell(text);
    }
  }
  for (const path of given.operands) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(pager ? HARMLESS : judged("medium", "starts an editor", { writes: true }), ...found);
};
