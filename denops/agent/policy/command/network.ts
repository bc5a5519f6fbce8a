/** Network clients, containers and databases. */
import { find, has, readArguments, valuesOf } from "./options.ts";
import { judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { atLeast, HARMLESS, judged, type Judgement, worst } from "./severity.ts";

const FETCHES = judged("medium", "reads from the network", { network: true });
const SENDS = judged("high", "sends data over the network", { network: true });

const CURL_VALUED =
  "-d -F -T -o -K -H -X -u -A -e -b -c -x -w -m -r -C -E -Q -y -Y -z -D -t -P --data --data-raw --data-binary --data-ascii --data-urlencode --json --form --form-string --upload-file --output --output-dir --config --header --request --user --user-agent --referer --cookie --cookie-jar --proxy --write-out --max-time --connect-timeout --retry --cacert --cert --key --resolve --dump-header --url --netrc-file --trace --trace-ascii --stderr --etag-save --libcurl --hsts --alt-svc";
const CURL_SENDS =
  "-d -F -T -Q --data --data-raw --data-binary --data-ascii --data-urlencode --json --form --form-string --upload-file --quote --mail-from";
const CURL_WRITES =
  "-o -D -c --output --dump-header --cookie-jar --trace --trace-ascii --stderr --etag-save --libcurl --hsts --alt-svc";

export const judgeCurl: Judge = (args, scene) => {
  const given = readArguments(args, CURL_VALUED);
  const methods = valuesOf(given, "-X --request").filter((method) => !/^(GET|HEAD|OPTIONS)$/i.test(method));
  const found = [FETCHES];
  scene.note({ kind: "downloads" });
  if (has(given, CURL_SENDS) || methods.length > 0) found.push(SENDS);
  if (has(given, "-K --config -n --netrc --netrc-file --unix-socket --proxy-insecure -u --user --key")) {
    found.push(judged("high", "takes options or passwords from a file", { network: true }));
  }
  for (const path of valuesOf(given, CURL_WRITES)) found.push(...saves(path, scene));
  const remoteName = has(given, "-O --remote-name --remote-name-all -J --remote-header-name");
  for (const url of [...given.operands, ...valuesOf(given, "--url")]) {
    found.push(judgeUrl(url, scene));
    if (remoteName) found.push(...saves(fileOf(url), scene));
  }
  for (const { value } of given.options) {
    if (value?.includes(UNKNOWN)) found.push(atLeast(SENDS, "high", "sends what is only known when it runs"));
    if (value?.startsWith("@")) found.push(judgeRead(value.slice(1), scene.folders, scene.places));
  }
  return worst(...found);
};

export const judgeWget: Judge = (args, scene) => {
  const given = readArguments(
    args,
    "-O -o -a -P -i -t -T -w -Q -U -e -l -A -R -D --output-document --output-file --append-output --directory-prefix --input-file --post-data --post-file --body-data --body-file --method --header --user --password --execute --use-askpass --tries --timeout --config --referer --user-agent --load-cookies --save-cookies",
  );
  const found = [FETCHES];
  scene.note({ kind: "downloads" });
  if (has(given, "--post-data --post-file --body-data --body-file --method")) found.push(SENDS);
  for (const text of valuesOf(given, "--use-askpass")) {
    scene.shell(text);
    found.push(judged("high", "starts a program"));
  }
  if (has(given, "-e --execute --config -i --input-file")) {
    found.push(judged("high", "takes settings from elsewhere", { network: true }));
  }
  const named = valuesOf(given, "-O --output-document");
  const folder = valuesOf(given, "-P --directory-prefix")[0] ?? ".";
  for (const path of [...named, ...valuesOf(given, "-o -a --output-file --append-output")]) {
    found.push(...saves(path, scene));
  }
  for (const url of given.operands) {
    found.push(judgeUrl(url, scene));
    if (named.length === 0) found.push(...saves(`${folder}/${fileOf(url)}`, scene));
  }
  for (const { value } of given.options) if (value?.includes(UNKNOWN)) found.push(SENDS);
  return worst(...found);
};

function judgeUrl(url: string, scene: Scene): Judgement {
  if (url.includes(UNKNOWN)) {
    return judged("high", "sends what is only known when it runs", { network: true });
  }
  const [, path] = /^file:\/\/(.*)$/.exec(url) ?? [];
  return path === undefined ? HARMLESS : judgeRead(path, scene.folders, scene.places);
}

function fileOf(url: string): string {
  const name = url.replace(/[?#].*$/, "").split("/").at(-1) ?? "";
  return name === "" || /^https?:$/.test(name) ? "index.html" : name;
}

function saves(path: string, scene: Scene): readonly Judgement[] {
  if (path === "-") return [];
  scene.note({ kind: "downloads to", path });
  return [{ ...judgeWrite(path, scene.folders, scene.places), network: true }];
}

/** Other ways to fetch or send: aria2c, http, nc, socat, ftp, dig, ping. */
export const judgeClient: Judge = (args, scene, name) => {
  const given = readArguments(args, "-o -O -d -p -w -s -e -c --output --dir --out");
  const known = !args.some((arg) => arg.includes(UNKNOWN));
  const found = [
    known && /^(ping6?|dig|nslookup|host|whois|traceroute|mtr|tracepath)$/.test(name) ? FETCHES : SENDS,
  ];
  if (
    /^(aria2c|http|https|xh|xhs|lynx|w3m|links|nc|ncat|netcat|socat|telnet|ftp|lftp|axel|fetch)$/.test(name)
  ) {
    scene.note({ kind: "downloads" });
  }
  if (/^(aria2c|axel|fetch)$/.test(name)) {
    for (const path of valuesOf(given, "-o --out --output")) found.push(...saves(path, scene));
    for (const url of given.operands) found.push(...saves(fileOf(url), scene));
  }
  if (/^(nc|ncat|netcat)$/.test(name) && find(given, "-e -c --exec --sh-exec --lua-exec") !== undefined) {
    found.push(judged("critical", "gives a program to the network", { network: true, writes: true }));
  }
  if (name === "socat" && args.some((arg) => /\b(exec|system|shell|pty):/i.test(arg))) {
    found.push(judged("critical", "gives a program to the network", { network: true, writes: true }));
  }
  for (const path of given.operands) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(...found);
};

const SSH_VALUED = "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w";

/** ssh, scp, sftp, mosh. What runs on the other machine is judged as if it ran here. */
export const judgeSsh: Judge = (args, scene, name) => {
  const given = readArguments(args, SSH_VALUED, name === "ssh" || name === "mosh" ? "operand" : "end");
  const found = [judged("high", "acts on another machine", { network: true, writes: true })];
  scene.note({ kind: "downloads" });
  for (const option of valuesOf(given, "-o")) {
    const [, text] = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|Match)[= ]+(.*)$/is.exec(option) ?? [];
    if (text !== undefined) scene.shell(text);
  }
  if (name !== "scp" && name !== "sftp" && given.operands.length > 1) {
    scene.shell(given.operands.slice(1).join(" "), { input: scene.input });
  } else if (name === "ssh" && scene.input.kind === "text") scene.shell(scene.input.text);
  if (name === "scp" && valuesOf(given, "-S").length > 0) {
    for (const text of valuesOf(given, "-S")) scene.shell(text);
  }
  for (const path of given.operands) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(...found);
};

const CONTAINER_VALUED =
  "-v -e -w -u -p -l -m -h -c --volume --mount --env --env-file --workdir --user --publish --name --network --net --entrypoint --label --memory --cpus --platform --hostname --add-host --device --cap-add --security-opt --pid --ipc --userns --restart --gpus --shm-size --tmpfs --ulimit --log-driver --pull";

/** docker run, podman run, nerdctl run: what of this machine the container gets. */
export const judgeContainer: Judge = (args, scene) => {
  const given = readArguments(args, CONTAINER_VALUED, "operand");
  const found = [judged("medium", "runs in a container", { network: true, writes: true })];
  const mounts = [
    ...valuesOf(given, "-v --volume").map((value) => value.split(":")[0] ?? ""),
    ...valuesOf(given, "--mount").map((value) => /(?:source|src)=([^,]*)/.exec(value)?.[1] ?? ""),
  ];
  for (const path of mounts) {
    if (
      /^\/+[.*]*$|docker\.sock|^\/(etc|root|home|usr|var|boot|dev|proc|sys|Users|run)\/?$|^~\/?$/.test(path)
    ) {
      found.push(judged("critical", `gives ${path} to a container`, { writes: true }));
    } else if (/^[/~]|^\.\.|^￼/.test(path)) {
      found.push(judgeRead(path, scene.folders, scene.places));
      const at = judgeWrite(path, scene.folders, scene.places);
      found.push(
        at.severity === "critical"
          ? at
          : judged(at.severity === "none" ? "medium" : at.severity, `gives ${path} to a container`, {
            writes: true,
          }),
      );
    }
  }
  if (has(given, "--privileged --device --cap-add --security-opt --userns --volumes-from")) {
    found.push(judged("high", "gives a container rights on this machine", { writes: true }));
  }
  if (valuesOf(given, "--pid --ipc --net --network --uts").includes("host")) {
    found.push(judged("high", "gives a container this machine's processes or network", { network: true }));
  }
  if (given.operands.length > 1) scene.run(given.operands.slice(1));
  return worst(...found);
};

const SQL_DESTROYS =
  /\b(drop|truncate|delete|alter|grant|revoke|shutdown|vacuum\s+full|copy\s.*\bto\b|into\s+outfile|load_file|pg_read|lo_export|flush(all|db)|deleteMany|dropDatabase|remove\(|renameCollection)\b/i;
const SQL_CHANGES =
  /\b(insert|update|replace|create|merge|attach|load_extension|readfile|writefile|set|del|eval)\b/i;

/** psql, mysql, sqlite3, mongosh, redis-cli: the SQL, and the commands with which they start a shell. */
export const judgeDatabase: Judge = (args, scene, name) => {
  const local = name.startsWith("sqlite") || name === "duckdb";
  const text = [...args, scene.input.kind === "text" ? scene.input.text : ""].join("\n");
  const found = [judged("medium", "talks to a database", { network: !local, writes: true })];
  if (SQL_DESTROYS.test(text)) {
    found.push(judged("high", "changes or deletes what a database holds", { writes: true }));
  } else if (SQL_CHANGES.test(text)) {
    found.push(judged(local ? "medium" : "high", "changes what a database holds", { writes: true }));
  }
  for (
    const [, shell = ""] of text.matchAll(/(?:\\!|\.shell|\.system|\\o\s*\||\bprogram\s*')\s*([^\n]*)/gi)
  ) {
    scene.shell(shell.replace(/^['"]|['"].*$/g, ""));
    found.push(judged("high", "starts a shell from a database client", { writes: true }));
  }
  if (text.includes(UNKNOWN)) {
    found.push(judged("high", "runs SQL that is only known when it runs", { writes: true }));
  }
  for (const path of args) found.push(judgeRead(path, scene.folders, scene.places));
  return worst(...found);
};

const CLOUD_ASKS = /^(describe|list|get|head|ls|show|info|version|help|search|check|validate|wait)/;
const CLOUD_SECRET = /secret|password|parameter|credential|token|key|kms|iam|login|sso|print-access/;

/** aws, gcloud, az and the like: the verb is among the operands, and most verbs change something that costs. */
export const judgeCloud: Judge = (args) => {
  const operands = args.filter((arg) => !arg.startsWith("-")).slice(0, 6);
  const asks = operands.some((operand) => CLOUD_ASKS.test(operand)) &&
    !operands.some((operand) =>
      /^(delete|remove|rm|rb|terminate|put|update|create|set|cp|mv|sync)/.test(operand)
    );
  if (asks && !operands.some((operand) => CLOUD_SECRET.test(operand))) {
    return judged("medium", "asks a cloud service", { network: true });
  }
  return judged("high", "changes what a cloud holds or reads its secrets", { network: true, writes: true });
};
