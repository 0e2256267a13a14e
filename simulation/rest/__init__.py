"""What every endpoint of the API rests on: who asks, what they may, pages, errors, answers given twice.

An endpoint is a class below `endpoints.Endpoint` that says for each of its methods in `access` which scope
and which right it takes, and what goes in and comes out. The rest follows from that: checks, errors,
description.
"""
