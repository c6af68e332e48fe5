"""The paper's experiments, run again: its numbers and figures beside ours."""
