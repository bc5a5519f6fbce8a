export * from "npm:jsonrepair@3.15.0";
