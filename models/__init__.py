"""The shipped models, one system a module or package."""
