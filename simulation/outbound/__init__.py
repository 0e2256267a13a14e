"""The other door to the network: messages to addresses that an admin named. `simulation/llm` is the first."""
