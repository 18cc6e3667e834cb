"""Collections to search: real ones, and seeded ones for arithmetic."""
