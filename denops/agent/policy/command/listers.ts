/** Programs that change something, or ask the network, but for the forms in which they only list. */
import { judgeByTable, oddOption, programOf } from "./programs.ts";
import { judgeWrite } from "./places.ts";
import type { Judge } from "./scene.ts";
import { HARMLESS, judged, worst } from "./severity.ts";

/** Options that list, and those that may come with them. */
const LISTS: Readonly<Record<string, readonly [first: RegExp, harmless: string]>> = {
  unzip: [/^-(l|v|Z|Z1|t|lq|qql|lv)$/, "-l -v -Z -1 -t -q"],
  zipinfo: [/^[^-]|^-[12smlvhtz]+$/, "-1 -2 -s -m -l -v -h -t -z"],
  gzip: [/^-(l|lv|t)$|^--list$/, "-l -v -t --list"],
  gunzip: [/^-(l|lv|t)$|^--list$/, "-l -v -t --list"],
  xz: [/^-(l|lv|t)$|^--list$/, "-l -v -t --list"],
  bzip2: [/^-t$/, "-t -v"],
  zstd: [/^-(l|t)$|^--list$/, "-l -t -v --list"],
  ar: [/^-?t[vO]*$/, "-t -v -O"],
  dpkg: [
    /^-(l|L|s|S|p)$|^--(list|listfiles|status|search)$/,
    "-l -L -s -S -p --list --listfiles --status --search",
  ],
  "dpkg-query": [/^-(l|L|s|S|W)$/, "-l -L -s -S -W -f --showformat"],
  rpm: [/^-q[aildfpcR]*$/, "-q -a -i -l -d -f -p -c -R"],
  pacman: [/^-Q[ilqsekmtduo]*$/, "-Q -i -l -q -s -e -k -m -t -d -u -o"],
};

export const judgeLister: Judge = (args, scene, name) => {
  const [first = ""] = args;
  const [start, harmless = ""] = LISTS[name] ?? [];
  const lists = start !== undefined && start.test(first) && !args.some((arg) => arg.startsWith("@")) &&
    oddOption(args, { base: ["none", "only lists"], harmless }) === undefined;
  if (lists) return HARMLESS;
  const program = programOf(name);
  const known = program === undefined
    ? judged("medium", `runs ${name}`, { writes: true })
    : judgeByTable(program, args);
  // What is unpacked goes where -d says.
  const folder = name === "unzip" && args.includes("-d") ? args[args.indexOf("-d") + 1] : undefined;
  return folder === undefined ? known : worst(known, judgeWrite(folder, scene.folders, scene.places));
};

/** ip's verbs may be shortened, so those that ask are listed: all others change something. */
export const judgeIp: Judge = (args) => {
  const words = args.filter((arg) => !arg.startsWith("-"));
  const options = args.filter((arg) => arg.startsWith("-"));
  const [object = "", verb = "show"] = words;
  const plain = options.every((option) =>
    /^-{1,2}([46sdhjpoO]|br|brief|c|color|json|details|stats|human|pretty)$/.test(option)
  );
  const asks =
    /^(a|addr|address|l|link|r|route|n|neigh|neighbour|ru|rule|maddress|mroute|tunnel|netns)$/.test(object) &&
    /^(s|sh|show|l|ls|list|g|get|help)$/.test(verb);
  return plain && (asks || object === "") ? HARMLESS : judged("high", "changes the network");
};

export const judgeGetent: Judge = ([database = ""]) =>
  /^(passwd|group|services|protocols|networks|rpc|ethers|aliases|initgroups)$/.test(database)
    ? HARMLESS
    : judged("medium", "asks the network for a name", { network: true });
