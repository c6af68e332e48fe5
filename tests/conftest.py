"""Settings shared by all tests."""

import os

from hypothesis import settings

# The same examples in every run; search wider by hand with HYPOTHESIS_PROFILE=wide.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("wide", max_examples=1000, deadline=None)
settings.register_profile("many", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
