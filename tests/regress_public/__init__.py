"""Defects that users reported of other checkers, each as a test with its right answer."""
