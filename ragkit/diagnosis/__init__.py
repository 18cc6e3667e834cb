"""Numbers and labels to what to do next; and the tools to make the labels."""
