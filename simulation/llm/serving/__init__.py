"""The scripted model over HTTP in the OpenAI format, with faults and waiting times on demand.

Load tests, demos and the tests of the adapter talk to it over a real socket. It is rules, not a language
model, and every fault is a pure function of the request and the attempt: a run can be repeated.
"""
