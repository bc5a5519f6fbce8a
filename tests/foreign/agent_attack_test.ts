/** Promises about agents from elsewhere, attacked: nothing but their overlay and their own files is ever written. */
import assert from "node:assert/strict";
import { findProgram } from "../../denops/agent/supervisor/system/sandbox.ts";
import { projectState, scratchFolder } from "../../denops/agent/supervisor/system/project_state.ts";
import { hostedShell, SESSION } from "../support/foreign/hosted_shell.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { treeOf } from "../support/trees.ts";

const ignore = Deno.build.os !== "linux";
const SECRET = "hush-8213";

Deno.test({
  name: "an agent sees no secret and reaches nothing but its overlay, its own files and its hosts",
  ignore,
  async fn() {
    await using agent = await hostedShell(
      { "a.txt": "a\n", ".env": SECRET, "deep/.env": SECRET },
      {
        denied: ["**/.env"],
        home: {
          ".ssh/id": SECRET,
          "notes": SECRET,
          ".shell/own": "own\n",
          ".shell.json": "{}",
          ".plug/one": "one\n",
        },
        row: {
          config: ["~/.shell", "~/.shell.json", "~/.new/deep", "~/.plug"],
          read_only: ["~/.shell/hooks.json", "~/.shell/own.toml", "~/.plug"],
          env: ["OWN"],
          set: { SET: "s" },
        },
        variables: { OWN: "o", OTHER: SECRET },
      },
    );
    const { root } = agent.project;
    const outside = treeOf(agent.state.root, { exact: true });
    await agent.begin();
    const output = await agent.run(`cd ${root}
cat .env deep/.env ~/.ssh/id ~/notes; ls -A ~; env; cat /proc/*/environ | tr '\\0' '\\n'
ls ${agent.state.root} ${agent.home.root}/.ssh; find / -name '.env' -not -path '/proc/*' -exec cat {} +
mount --bind /tmp ${root}; umount ${root}; mount -o remount,rw /; unshare -Um true; nsenter -t 1 -m true
echo x > ${root}/../beside; echo x > /usr/x; echo x > /etc/x; grep CapEff /proc/self/status
exec 3<>/dev/tcp/1.1.1.1/80; curl -sm 5 http://example.com/; echo "code $?"`);
    assert.doesNotMatch(output, new RegExp(SECRET), output);
    assert.match(output, /^OWN=o$/m);
    assert.match(output, /^SET=s$/m);
    assert.match(output, /CapEff:\s0{16}$/m);
    assert.match(output, /Network is unreachable|connect: /);
    await agent.run(
      `cat ~/.shell/own; echo mine >> ~/.shell/own; echo '{"a":1}' > ~/.shell.json; echo n > ~/.new/deep/f
echo evil > ~/.shell/hooks.json; echo evil > ~/.shell/x; mv -f ~/.shell/x ~/.shell/own.toml; rm -f ~/.shell/hooks.json
mv ~/.shell ~/.other; ln -sf x ~/.shell/own.toml`,
    );
    const plugged = await agent.run(
      `cd ~/.plug; echo evil > one; rm -f one; mv one three; echo new > two && cat one two`,
    );
    assert.equal(plugged.trim().split("\n").slice(-2).join(), "one,new");
    const { effects, notes } = await agent.end();
    assert.deepEqual([...Deno.readDirSync(agent.home.path(".plug"))].map(({ name }) => name), ["one"]);
    assert.equal(await agent.home.read(".plug/one"), "one\n");
    assert.equal(effects, undefined, agent.changes().join());
    assert.deepEqual(notes.map((note) => note.slice(0, 28)), ["Refused hosts: example.com:8"]);
    assert.equal(await agent.home.read(".shell/own"), "own\nmine\n");
    assert.equal(await agent.home.read(".shell.json"), '{"a":1}\n');
    assert.equal(await agent.home.read(".new/deep/f"), "n\n");
    assert.equal(await agent.home.read("notes"), SECRET);
    assert.equal(await agent.home.read(".shell/hooks.json"), "{}\n");
    assert.equal(await agent.home.read(".shell/own.toml"), "");
    for (const path of Object.keys(outside)) {
      assert.ok(path in treeOf(agent.state.root, { exact: true }), path);
    }
  },
});

Deno.test({
  name:
    "processes that an agent leaves behind write nowhere between turns: by path, old folder, or open file",
  ignore,
  async fn() {
    await using agent = await hostedShell({ "a.txt": "a\n", "d/b.txt": "b\n" });
    const { root } = agent.project;
    const before = treeOf(root, { exact: true });
    await agent.begin();
    await agent.run(`cd ${root}; echo n > new.txt
for place in ${root} . /proc/self/cwd d; do
  ( cd $place; while :; do echo x >> left; echo x > ${root}/a.txt; mkdir $RANDOM; sleep 0.02; done ) >/dev/null 2>&1 &
done; ( exec 9<d; cd /; while :; do echo x > /proc/self/fd/9/late; sleep 0.02; done ) >/dev/null 2>&1 &`);
    await agent.end();
    const kept = () =>
      agent.kept().map(({ change, bytes }) => [change.path, new TextDecoder().decode(bytes)]);
    const first = kept();
    assert.ok(first.some(([path]) => path === `${root}/new.txt`), JSON.stringify(first));
    await agent.run("sleep 0.2");
    assert.deepEqual(kept(), first);
    assert.deepEqual(treeOf(root, { exact: true }), before);
    await agent.begin();
    await agent.run("sleep 0.1");
    await agent.end();
    const second = agent.kept().map(({ change }) => change.path);
    assert.ok(!second.includes(`${root}/late`), second.join());
    assert.deepEqual(treeOf(root, { exact: true }), before);
  },
});

Deno.test({
  name:
    "an agent that holds a file open, and swaps folders for links while it is listed, learns no secret by that",
  ignore,
  async fn() {
    await using agent = await hostedShell({ "a.txt": "a\n" }, { home: { "s/x": SECRET, "s/y": SECRET } });
    const { root } = agent.project;
    const secret = `${agent.home.root}/s`;
    for (let turn = 0; turn < (IS_FULL ? 20 : 1); turn++) {
      await agent.begin();
      await agent.run(`cd ${root}; exec 7>>log; mkdir -p d; echo x > d/x; echo y > d/y
( while :; do mv d e; ln -s ${secret} d; rm d; mv e d; echo late >> a.txt; done ) >/dev/null 2>&1 & worker=$!`);
      const { notes } = await agent.end();
      assert.ok(notes.some((note) => note.includes("open for writing")), notes.join());
      const listed = agent.kept();
      const texts = listed.map(({ bytes }) => new TextDecoder().decode(bytes)).join();
      assert.doesNotMatch(texts, new RegExp(SECRET));
      await agent.run("sleep 0.1");
      assert.deepEqual(agent.kept(), listed);
      await agent.run("kill -9 $worker; exec 7>&-");
    }
    assert.equal(await agent.project.read("a.txt"), "a\n");
  },
});

Deno.test({
  name: "an agent that starts more processes than its limit is ended, and nothing of its turn is kept",
  ignore: ignore || !IS_FULL,
  async fn() {
    await using agent = await hostedShell({ "a.txt": "a\n" });
    await agent.begin();
    await assert.rejects(
      agent.run(`for n in $(seq 2100); do sleep 100 & done; sleep 60`),
      /has ended|closed/,
    );
    const { effects, notes } = await agent.end(false);
    assert.equal(effects, undefined);
    assert.match(notes.join(), /^Nothing was kept: it started more than 2048 processes\.$/);
    await waitUntil("the project to be as before", async () => await agent.project.read("a.txt") === "a\n");
  },
});

Deno.test({
  name: "what git obeys is sensitive in a turn too",
  ignore,
  async fn() {
    await using agent = await hostedShell({ "a.txt": "a\n" }, { git: true });
    await agent.begin();
    await agent.run(
      `cd ${agent.project.root}; git config core.fsmonitor evil; echo evil > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit; git add a.txt; git -c user.name=n -c user.email=e commit -qm m; git log --oneline`,
    );
    await agent.end();
    const changes = agent.changes().filter((line) => !line.startsWith(".git/objects/"));
    for (const name of [".git/config", ".git/hooks/pre-commit", ".git/HEAD", ".git/index"]) {
      assert.equal(changes.includes(`${name}: file`), name !== ".git/HEAD", changes.join());
    }
  },
});

Deno.test({
  name: "an agent that creates sandboxes of its own gets out of none, and uncovers no hidden file",
  ignore,
  async fn() {
    const files = { "a.txt": "a\n", ".env": SECRET };
    await using agent = await hostedShell(files, {
      denied: ["**/.env"],
      home: { "notes": SECRET, ".shell/x": "x\n" },
      row: { own_sandbox: true, config: ["~/.shell"], read_only: ["~/.shell/x"] },
    });
    const { root } = agent.project;
    const before = treeOf(root, { exact: true });
    await agent.begin();
    const bwrap = await findProgram("bwrap", []);
    const nested = await agent.run(
      `${bwrap} --unshare-user --unshare-pid --ro-bind / / --dev /dev -- cat ${root}/a.txt; echo "end $?"`,
    );
    // The kernel lets root without capabilities map no user ids (Linux 5.12).
    if (Deno.uid() !== 0) assert.equal(nested, "a\nend 0\n");
    const settings = await agent.run("echo 1 > /proc/sys/vm/drop_caches");
    assert.match(settings, /drop_caches: (Read-only|Permission)/);
    const inside =
      `cd /; umount -l ${root}/.env; umount -l ${root}; umount -l ${root}; umount -l ~/.shell/x ~/.shell ~; umount -l /tmp /run
cat ${root}/.env ~/notes ${agent.home.root}/notes; mount -o remount,rw /; mount -o remount,rw ${root}; echo x > ${root}/late; echo x > ~/.shell/x
mount --make-rshared /; mount --bind /tmp ${root}; mount -t overlay -o lowerdir=/usr,upperdir=/tmp,workdir=/tmp o ${root}; echo evil > ~/.shell/x`;
    const output = await agent.run(`unshare -Urmpf bash -c '${inside}'`);
    assert.doesNotMatch(output, new RegExp(SECRET), output);
    await agent.end();
    // A mount of its own moves no later turn.
    await agent.run(
      `unshare -Urm bash -c 'umount -l ${root}; mount -t tmpfs t ${root}; exec 5>${root}/held; sleep 1000' >/dev/null 2>&1 &`,
    );
    await agent.begin();
    await agent.run(`cd ${root}; echo n > new.txt`);
    await agent.end();
    assert.deepEqual(agent.changes(), ["new.txt: file"]);
    assert.deepEqual(treeOf(root, { exact: true }), before);
    assert.equal(await agent.home.read(".shell/x"), "x\n");
  },
});

Deno.test({
  name: "the agent's version of a conflict is stored where neither engines nor commands can put links",
  ignore,
  async fn() {
    await using agent = await hostedShell({ "a.txt": "one\n", "b.txt": "b\n" });
    await using outside = await scratch({ "a.txt": "the user's\n" });
    const { project, state } = agent;
    // An engine writes below its own state folder, commands below the scratch folders.
    const own = await projectState(project.root, state.root);
    const folder = await scratchFolder(own);
    await Deno.mkdir(`${folder}/${SESSION}`);
    for (const name of ["conflicts", `${SESSION}/conflicts`]) {
      await Deno.symlink(outside.root, `${folder}/${name}`);
    }
    await state.write("conflicts/2020-01-01T00-00-00-000Z-x/old.txt", "old\n");
    await agent.begin();
    await agent.run(`cd ${project.root}; echo agent > a.txt`);
    await agent.project.write("a.txt", "user\n");
    const [note = ""] = (await agent.end()).notes;
    const [copy = ""] = /\/\S+a\.txt/.exec(note) ?? [];
    assert.ok(copy.startsWith(`${state.root}/conflicts/`) && !copy.startsWith(own), note);
    assert.equal(await Deno.readTextFile(copy), "agent\n");
    assert.deepEqual([...Deno.readDirSync(outside.root)].map(({ name }) => name), ["a.txt"]);
    assert.equal(await outside.read("a.txt"), "the user's\n");
    assert.equal([...Deno.readDirSync(state.path("conflicts"))].length, 1, "old ones are removed");
  },
});
