"""The sections of the page, each a function from the summary to HTML."""
