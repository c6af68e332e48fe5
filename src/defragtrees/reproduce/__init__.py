"""The paper's experiments: a file for each table or figure, its numbers beside ours."""
