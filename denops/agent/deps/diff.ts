export * from "npm:diff@9.0.0";
