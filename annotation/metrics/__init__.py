"""Numbers about labels and the people who give them: shares, intervals, agreement. No database."""
