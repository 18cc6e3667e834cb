"""Text to vectors to scores: what a bi-encoder computes, and what a search over its vectors finds."""
