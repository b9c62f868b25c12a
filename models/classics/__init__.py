"""Classic published models, whose state counts are known from elsewhere."""
