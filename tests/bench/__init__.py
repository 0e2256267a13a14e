"""`make bench`: how fast the review workplace is, against a bare pair of requests on the same server."""
