"""Text to terms to scores: what BM25 computes, and why a document got the score it has."""
