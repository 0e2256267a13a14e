"""Rules of the evaluation: how guesses are scored and labels rolled up. No Django, no database."""
