export * from "npm:unbash@6.0.4";
