/**
 * Recognises keys, tokens and passwords in a text. One row for each form; the first group of a form is kept.
 * @see https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml and the issuers' own
 * documentation
 */

const REMOVED = "[removed]";

/** Prefixes of tokens that consist of letters, digits, "_" and "-". */
const PREFIXES = [
  // Models: OpenAI, Anthropic, Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA, Google.
  ...["sk-", "sk_", "pk_", "rk_", "gsk_", "xai-", "hf_", "r8_", "pplx-", "nvapi-", "AIza"],
  // Code and packages: GitHub, GitLab, npm, PyPI, RubyGems, Clojars, Docker, crates.io, Postman.
  ...["ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"],
  ...["npm_", "pypi-", "rubygems_", "CLOJARS_", "dckr_pat_", "dckr_oat_", "cio", "PMAK-"],
  // Hosts: DigitalOcean, Vercel, Supabase, PlanetScale, Fly.io, Cloudflare, Netlify, Heroku.
  ...["dop_v1_", "doo_v1_", "dor_v1_", "vercel_", "sbp_", "pscale_tkn_", "pscale_oauth_", "pscale_pw_"],
  ...["fo1_", "fm1_", "fm2_", "v1.0-", "nfp_", "HRKU-"],
  // Chat and mail: Slack, SendGrid, Mailgun.
  ...["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-", "SG.", "key-"],
  // Payment and shops: Stripe, Square, Shopify, EasyPost.
  ...["whsec_", "sq0atp-", "sq0csp-", "shpat_", "shpss_", "shpca_", "shppa_", "EZAK", "EZTK"],
  // Monitoring and planning: Sentry, Grafana, New Relic, Linear, Notion, Figma, Atlassian, Databricks.
  ...["sntrys_", "sntryu_", "glc_", "glsa_", "NRAK-", "lin_api_", "ntn_", "figd_", "ATATT3", "dapi"],
  // Secret stores: Vault, Doppler, 1Password, age, Google OAuth.
  ...["hvs.", "hvb.", "hvr.", "dp.pt.", "dp.st.", "dp.ct.", "ops_", "AGE-SECRET-KEY-1", "GOCSPX-", "ya29."],
];

/** Names whose values are secrets, in code, settings, URLs and headers. */
const NAMES =
  "api[-_]?key|access[-_]?key|account[-_]?key|shared[-_]?access[-_]?key|private[-_]?key|token|secret|passw(?:or)?d|" +
  "passphrase|pwd|credential|client[-_]?secret|auth[-_]?key|x-auth";

const SECRETS: readonly RegExp[] = [
  /()-----BEGIN [A-Z ]{0,40}(?:PRIVATE KEY|KEY BLOCK|PGP MESSAGE)[A-Z ]{0,20}-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]{0,60}-----)?/g,
  /()\bPuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: \S+|$)/g,
  new RegExp(String.raw`()(?<![\w-])(?:${PREFIXES.map(escaped).join("|")})[\w-]{10,}(?:\.[\w-]{6,})*`, "g"),
  /()\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/g,
  // A JSON web token.
  /()\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /(hooks\.slack\.com\/(?:services|workflows)\/)[\w/]{10,}/g,
  /(discord(?:app)?\.com\/api\/webhooks\/)[\w/-]{10,}/g,
  // Headers, also in commands.
  /\b((?:Bearer|Basic|ApiKey|Digest)\s+)[\w.~+/=-]{8,}/gi,
  /\b((?:Authorization|Cookie|Set-Cookie|X-Api-Key|X-Auth-Token|Private-Token)\\?["']?\s*[:=]\s*\\?["']?(?:token\s+)?)(?!(?:Bearer|Basic|ApiKey|Digest)\b|\[removed\])[^\s"'\\][^\n"'\\]{3,}/gi,
  /(:\/\/[^\s:@/]{0,200}:)[^\s@/]+(?=@)/g,
  // A data source name of Go's drivers.
  /(\b[\w.-]{1,100}:)[^\s@/]{1,200}(?=@(?:tcp|unix)\()/g,
  // Quotes are escaped in JSON.
  new RegExp(
    String
      .raw`((?:${NAMES})s?[\w-]{0,40}\\?["']?\s{0,5}[=:]\s{0,5}\\?["']?)(?!\[removed\]|[\w$.]{1,80}\()[^\s"'\\,;]{4,}`,
    "gi",
  ),
  /(\bsig=)[\w%+/=-]{20,}/g,
];

/** @param known a secret to remove in any case */
export function withoutSecrets(text: string, known?: string): string {
  const plain = known === undefined || known === "" ? text : text.replaceAll(known, REMOVED);
  return SECRETS.reduce((rest, form) => rest.replace(form, `$1${REMOVED}`), plain);
}

/** Whether a text contains a secret of a known form. */
export function hasSecret(text: string): boolean {
  return withoutSecrets(text) !== text;
}

function escaped(text: string): string {
  return text.replace(/[.-]/g, "\\$&");
}
