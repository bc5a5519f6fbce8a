/** What runs, shows and changes containers, clusters, sites, forges and services. Data only. */
import { account, deletes, type Program, publishes } from "./program.ts";

export const containers: Program = {
  base: ["medium", "changes containers"],
  valued: "-f -p -H --file --project-name --host --context --profile --env-file",
  subcommands: [
    [
      "none",
      "ps, images, logs, inspect, version, info, port, top, diff, history, search, stats, events, image ls, image inspect, image history, container ls, container inspect, container logs, volume ls, volume inspect, network ls, network inspect, compose ps, compose logs, compose images, compose ls, compose top, context ls, system df, system info, manifest inspect",
      "only asks",
    ],
    [
      "high",
      "push, login, logout, image push, manifest push, compose push, trust, plugin, swarm, stack, service, node, secret, config, context",
      publishes,
    ],
    [
      "high",
      "rm, rmi, kill, system prune, volume rm, volume prune, container rm, container prune, image rm, image prune, network rm, network prune, builder prune, compose rm, compose kill, compose down, cp, import, load, commit",
      "deletes or overwrites containers' data",
    ],
  ],
  options: [["high", "--privileged --volumes -v --prune --rmi", "goes beyond the container"]],
  harmless:
    "-f --follow --filter -n --last -l --latest --no-trunc -s --size --tail --since --until -t --timestamps --no-stream --digests --type --services --file -p --project-name",
  network:
    "pull, push, login, build, run, compose up, compose pull, compose build, image pull, image push, search",
};

export const cluster: Program = {
  base: ["high", "changes a cluster"],
  valued: "-n --namespace --context --kubeconfig -o -l -f --output --selector",
  subcommands: [
    [
      "none",
      "get, describe, logs, version, explain, api-resources, api-versions, cluster-info, top, config view, config current-context, config get-contexts, diff, events, auth can-i, wait, list, ls, status, history, show, search, template, lint, env, repo list, dependency list",
      "only asks",
    ],
    [
      "high",
      "get secret, get secrets, describe secret, describe secrets, config view --raw, create token",
      account,
    ],
    ["high", "delete, drain, uninstall, rollback, replace", deletes],
    ["medium", "cluster-info dump, template, diff", "may start programs and write files"],
  ],
  // Not --kubeconfig, --server and the like: whom to ask, and which program signs in.
  harmless:
    "-n --namespace -A --all-namespaces -o --output -l --selector -w --watch --show-labels --tail -f --follow --previous -p -c --container --since --sort-by --field-selector --no-headers --context --show-kind --timestamps --for --timeout --short --client",
  options: [["critical", "--all --all-namespaces-delete", "acts on everything in the cluster"], [
    "high",
    "--raw --force",
    "goes beyond what is asked",
  ]],
  network: true,
};

export const infrastructure: Program = {
  base: ["medium", "reads the state of infrastructure"],
  valued: "-chdir --stack -s -C --cwd",
  subcommands: [
    [
      "none",
      "version, output, workspace list, workspace show",
      "only asks",
    ],
    [
      "high",
      "apply, destroy, import, taint, untaint, state rm, state mv, state push, force-unlock, workspace delete, login, logout, up, refresh, cancel, rm, console, stack rm, test",
      "changes infrastructure",
    ],
  ],
  network: true,
};

export const site: Program = {
  base: ["medium", "talks to a service"],
  subcommands: [
    ["none", "help, version", "only asks"],
    [
      "high",
      "deploy, publish, up, push, release, destroy, delete, remove, rm, apps:destroy, pg:reset, config:set, secrets, secret, env, login, logout, auth, promote, rollback, alias, domains, scale, ssh, run, exec, launch, --prod",
      publishes,
    ],
  ],
  options: [["high", "--prod --production --yes --force", publishes]],
  network: true,
};

export const forge: Program = {
  base: ["high", "changes what a code host holds"],
  valued:
    "-R --repo -L --limit -s --state -l --label -A --author -B --base -H --head -S --search -b --branch -w --workflow -u --user",
  harmless:
    "-R --repo -q --jq --template -L --limit -s --state --label -l --author -A --assignee --base -B --head -H --search -S -c --comments --log --log-failed --name-only --patch --required --watch --exit-status --workflow --branch -b --draft -d --hostname --job -j --owner --match --language --sort --order --conflict-status --include-prs",
  subcommands: [
    [
      "none",
      "status, version, help, repo view, repo list, pr view, pr list, pr status, pr diff, pr checks, issue view, issue list, issue status, run list, run view, run watch, workflow list, workflow view, release list, release view, gist list, gist view, label list, search, auth status, mr list, mr view, mr diff, ci status, ci view, ci list, cache list, org list, extension list, ruleset list, ruleset view",
      "only asks",
    ],
    [
      "medium",
      "pr checkout, repo clone, release download, run download, gist clone, mr checkout, repo fork, repo sync, co",
      "downloads",
    ],
    [
      "high",
      "repo delete, release delete, issue delete, gist delete, repo archive, secret, variable, auth, ssh-key, gpg-key, api, extension, alias, config, codespace",
      account,
    ],
  ],
  options: [["high", "--show-token", account]],
  network: true,
};

export const services: Program = {
  base: ["high", "starts, stops or changes services"],
  subcommands: [[
    "none",
    "status, list-units, list-unit-files, list-timers, show, cat, is-active, is-enabled, is-failed, list, print, blame, list-jobs, list-sockets",
    "only asks",
  ]],
  valued: "-n --lines -t --type -p --property -o --output --state",
  harmless:
    "--user --system --no-pager -l --full -n --lines -t --type -p --property -o --output --state --no-legend --failed --value",
};
