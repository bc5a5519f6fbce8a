export { default, type Ignore } from "npm:ignore@7.0.16";
