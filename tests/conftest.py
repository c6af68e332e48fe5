"""What the tests below share: searches on fewer synthetic rows."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def few_new_rows(request):
    """A tenth of the synthetic rows of a search, or as many as a module says."""
    n_rows = getattr(request.module, "NEW_ROWS", 1_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("defragtrees.estimators.defrag.NEW_ROWS", n_rows)
        yield
