"""One file a command. What is heavy is imported inside: `--help` must not wait for it."""
