"""Other methods of the literature, for comparison."""
