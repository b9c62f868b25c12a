"""The narrow store below the runtime: its verbs are the durable boundaries."""
