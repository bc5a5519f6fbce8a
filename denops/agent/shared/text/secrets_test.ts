import assert from "node:assert/strict";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { withoutSecrets } from "./secrets.ts";

/** Joined here, so that no scanner takes this file for a leak. */
const random = "Zq7" + "x9Kd02LmNv84TrYpWc31";

const SECRETS: readonly string[] = [
  ...["gsk_", "xai-", "sk-ant-api03-", "sk-proj-", "hf_", "ghp_", "github_pat_", "glpat-", "npm_"],
  ...["pypi-", "dckr_pat_", "dop_v1_", "SG.", "xoxb-", "shpat_", "whsec_", "lin_api_", "hvs.", "sntrys_"],
  ...["rubygems_", "r8_", "AIza", "pscale_pw_", "glsa_", "AGE-SECRET-KEY-1", "GOCSPX-", "ya29."],
  ...["sk_", "pk_", "rk_", "pplx-", "nvapi-", "gho_", "ghs_", "ghu_", "ghr_", "gldt-", "glrt-", "glptt-"],
  ...["glcbt-", "CLOJARS_", "dckr_oat_", "cio", "PMAK-", "doo_v1_", "dor_v1_", "vercel_", "sbp_", "nfp_"],
  ...["pscale_tkn_", "pscale_oauth_", "fo1_", "fm1_", "fm2_", "v1.0-", "HRKU-", "xoxp-", "xoxa-", "xoxr-"],
  ...["xoxs-", "xoxe-", "xapp-", "key-", "sq0atp-", "sq0csp-", "shpss_", "shpca_", "shppa_", "EZAK", "EZTK"],
  ...["sntryu_", "glc_", "NRAK-", "ntn_", "figd_", "ATATT3", "dapi", "hvb.", "hvr.", "dp.pt.", "dp.st."],
  ...["dp.ct.", "ops_"],
].map((prefix) => prefix + random);

Deno.test("tokens of known forms are removed, wherever they stand", () => {
  for (const secret of SECRETS) {
    for (
      const around of ["x=SECRET", '"SECRET"', "`SECRET`,", "https://x.example/?k=SECRET&y=1", "(SECRET)"]
    ) {
      const text = around.replace("SECRET", secret);
      const clean = withoutSecrets(text);
      assert.ok(!clean.includes(random), `${text} → ${clean}`);
    }
  }
});

const LINES: readonly string[] = [
  `X-Api-Key: ${random}`,
  `curl -H "X-API-Key: ${random}" https://a.example`,
  `Authorization: token ${random}`,
  `Authorization: Bearer ${random}`,
  `"Authorization": "Basic ${random}=="`,
  `Cookie: session=${random}; theme=dark`,
  `AccountName=a;AccountKey=${random}==;EndpointSuffix=x`,
  `SharedAccessKey=${random}`,
  ...[
    "passphrase",
    "pwd",
    "aws_access_key",
    "private_key",
    "refresh_token",
    "app_secret",
    "credential",
    "auth_key",
  ]
    .map((name) => `${name}=${random}`),
  `X-Auth: ${random}`,
  `id AKIA${"ZQ7KDLMN"}VTRYPWC2`,
  `eyJ${random}.${random}.${random}`,
  `https://discord.com/api/webhooks/1/${random}`,
  `PuTTY-User-Key-File-3: x\n${random}\nPrivate-MAC: ${random}`,
  `PASSWORD: '${random}'`,
  `{\\"client_secret\\": \\"${random}\\"}`,
  `postgres://user:${random}@db.example/x`,
  `redis://:${random}@db.example/0`,
  `user:${random}@tcp(db.example:3306)/x`,
  `https://hooks.slack.com/services/T000/B000/${random}`,
  `https://x.blob.example/a?sv=1&sig=${random}`,
  `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${random}\n-----END PGP PRIVATE KEY BLOCK-----`,
  `-----BEGIN OPENSSH PRIVATE KEY-----\n${random}`,
];

Deno.test("headers, connection strings, assignments and key blocks lose their secret and keep their name", () => {
  for (const line of LINES) {
    const clean = withoutSecrets(line);
    assert.ok(!clean.includes(random), `${line} → ${clean}`);
    assert.match(clean, /\[removed\]/);
  }
  assert.equal(withoutSecrets(`export API_KEY=${random} # mine`), "export API_KEY=[removed] # mine");
  assert.equal(withoutSecrets("the word is xyzzy", "xyzzy"), "the word is [removed]");
});

Deno.test("ordinary code stays as it is", () => {
  for (
    const line of [
      "const token = next();",
      "for (const key of keys) tokens.push(key);",
      "git commit -m 'sk-learn is a library'",
      "A sig= of its own, and a cio in a word: precious, tenacious.",
      "if (password === undefined) throw new Error();",
      "see https://example.com/a:b/c",
      "key-value pairs and pk_id, sk_id, v1.0-beta",
    ]
  ) assert.equal(withoutSecrets(line), line);
});

const PARTS = [
  ...["-----BEGIN PRIVATE KEY-----", "token=", "sk-", "://a:", "eyJ", "Cookie: a", "PuTTY-User-Key-File-2"],
  ...["x".repeat(50), "a.b-", "password", "sig=a", "xoxb-1234567890."],
];

Deno.test("hostile texts are read in time in proportion", () =>
  assertEachLinear(PARTS, (part, size) => {
    const text = part.repeat(size);
    return () => withoutSecrets(text);
  }, 4_000));
