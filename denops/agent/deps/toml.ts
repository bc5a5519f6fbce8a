export { parse } from "npm:smol-toml@1.9.1";
