"""Helpers that know nothing of rules: files, formatting, optional packages."""
