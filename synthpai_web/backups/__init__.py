"""One file that holds the whole installation, and the way back from it (docs/adr/0020-backups.md)."""
