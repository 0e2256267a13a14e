"""Which version of the program this is: written into releases and backups."""

VERSION = "0.8.0"
