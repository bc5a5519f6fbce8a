export * from "npm:@agentclientprotocol/sdk@2.4.0";
