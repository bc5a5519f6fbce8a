export { Parser } from "npm:htmlparser2@12.0.0";
