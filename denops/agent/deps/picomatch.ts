// @ts-types="./picomatch.d.ts"
export { default } from "npm:picomatch@4.0.7";
