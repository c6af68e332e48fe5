"""Scorecards beside other tools."""
