export * from "npm:eventsource-parser@4.1.3";
