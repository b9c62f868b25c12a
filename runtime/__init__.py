"""The reference runtime: small, durable, and checked under the invariants of the models."""
