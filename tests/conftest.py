"""Settings shared by all tests."""

import os

from hypothesis import HealthCheck, settings

# How wide a terminal is and whether it has colours is for tests to say, not for where
# they run; nor do warnings that somebody asks for belong to what programs print.
os.environ["COLUMNS"] = "80"
for name in ("FORCE_COLOR", "NO_COLOR", "PYTHONDEVMODE", "PYTHONWARNINGS"):
    os.environ.pop(name, None)

# How long an example takes is for the machine to say, and no fault of a test.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples in every run; search wider by hand with HYPOTHESIS_PROFILE=wide.
settings.register_profile("fixed", derandomize=True, **UNHURRIED)
settings.register_profile("wide", max_examples=1000, **UNHURRIED)
settings.register_profile("many", max_examples=10_000, **UNHURRIED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
