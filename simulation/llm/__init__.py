"""The only door to language models. Knows no Django and no database; callers get a gateway as an argument."""
