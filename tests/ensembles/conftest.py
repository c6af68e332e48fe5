"""Settings shared by the tests of readers."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    # On a busy machine the threads of histogram boosting wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        yield
