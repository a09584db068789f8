"""The web page on which a network is watched while it executes a program, and its server.

Only its own command imports this package.
"""
