"""The command line. One file a command."""
