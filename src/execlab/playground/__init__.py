"""The web page on which a network is watched while it executes a program, and its server. Nothing imports this room."""
