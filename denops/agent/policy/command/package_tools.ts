/** What installs, builds and publishes packages. Data only. */
import { account, builds, installs, type Program, publishes, system } from "./program.ts";

const SCRIPTS =
  "run, run-script, start, stop, restart, test, t, tst, rebuild, prune, dedupe, link, ln, pack, version, init, create, exec, ci, i, in, install, add, remove, rm, uninstall, un, update, up, upgrade, set, cache";
const NODE_READS =
  "ls, list, ll, la, view, info, show, v, why, explain, outdated, ping, whoami, root, prefix, bin, query, search, find-dupes, config get, config list, config ls, get";
const NODE_PUBLISHES =
  "publish, unpublish, deprecate, undeprecate, dist-tag, owner, access, team, org, star, unstar, hook, stage";
const NODE_ACCOUNT =
  "token, adduser, add-user, login, logout, profile, trust, config set, config delete, config edit, c set, set";
const NODE_NETWORK =
  "install, i, in, ci, add, update, up, upgrade, outdated, view, info, show, search, ping, whoami, audit, publish, unpublish, dlx, create, init, exec, x, dist-tag, owner, access, token, login";

export const node: Program = {
  base: ["medium", builds],
  valued: "--prefix -C -w -F --workspace --filter --registry --cwd --dir --userconfig --cache --otp --tag",
  subcommands: [
    ["none", NODE_READS, "only asks"],
    ["none", "audit", "only asks"],
    ["medium", "audit fix, audit signatures", installs],
    ["high", NODE_PUBLISHES, publishes],
    ["high", NODE_ACCOUNT, account],
    [
      "high",
      "run deploy, run publish, run release, run-script deploy, run-script publish, run-script release, deploy, release",
      publishes,
    ],
    ["medium", SCRIPTS, builds],
  ],
  options: [[
    "high",
    "-g --global --location --userconfig --script-shell --registry",
    "changes more than the project",
  ]],
  // Any setting may be given as an option, programs and files to write among them.
  harmless:
    "-l --long -p --parseable -w --workspace --workspaces -ws --include-workspace-root --depth --omit --include --prod --production --dev --only --link --unicode --prefix --loglevel --audit-level --package-lock-only -C",
  network: NODE_NETWORK,
};

/** They load what the project names before they do anything: yarnPath and plugins, .pnpmfile.cjs. */
export const nodeWithHooks: Program = {
  ...node,
  subcommands: (node.subcommands ?? []).filter(([severity]) => severity !== "none"),
};

export const pip: Program = {
  base: ["medium", installs],
  subcommands: [
    [
      "none",
      "list, show, freeze, check, help, debug, inspect, cache list, cache dir, config list, pip list, pip show, pip freeze, pip check, python list, self version",
      "only asks",
    ],
    [
      "medium",
      "install, download, wheel, uninstall, add, sync, lock, pip install, venv, build, init",
      installs,
    ],
    ["high", "publish, upload, config set, cache purge, self update, tool install, auth, config", publishes],
  ],
  options: [[
    "high",
    "--index-url --extra-index-url --trusted-host --break-system-packages --user --target -i",
    "installs from or to elsewhere",
  ]],
  valued: "--format --path --exclude",
  harmless:
    "-o --outdated -u --uptodate -e --editable -l --local -i --include-editable --exclude-editable --not-required --path --exclude -f --files --disable-pip-version-check --no-python-version-warning --isolated",
  network:
    "install, download, wheel, add, sync, lock, pip install, publish, upload, index, search, tool install",
};

export const packages: Program = {
  base: ["high", system],
  subcommands: [
    [
      "none",
      "list, search, show, info, policy, depends, rdepends, deps, uses, leaves, outdated, files, repolist, why, history, query",
      "only asks",
    ],
  ],
  harmless: "--installed --upgradable --versions --all-versions --names-only -n --cask --formula --tree",
  network: true,
};

export const build: Program = {
  base: ["medium", builds],
  valued: "-C -f -j --directory --file --makefile --jobs -p",
  subcommands: [[
    "high",
    "install, uninstall, publish, deploy, release, upload, dist-upload, push",
    "acts outside of the project",
  ]],
  options: [["high", "--eval", "runs code"]],
};
