"""Numbers about predictions: accuracy, intervals, comparisons of models. No database."""
