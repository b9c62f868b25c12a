"""Recoverable Invocation: write down what will be done, do it, write down what was done."""
