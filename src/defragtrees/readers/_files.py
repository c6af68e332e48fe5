"""What the readers of model files share: one kind of error for whatever is wrong."""

from contextlib import contextmanager

from defragtrees.errors import ModelFileError, UnsupportedEnsembleError

__all__ = ["whole_model"]


@contextmanager
def whole_model(library, source):
    """Whatever breaks inside is told as one sentence about the file.

    Examples
    --------
    >>> with whole_model("XGBoost", "model.json"):
    ...     {}["learner"]
    Traceback (most recent call last):
    ...
    defragtrees.errors.ModelFileError: 'model.json' is not a whole XGBoost model: \
it has no 'learner'.
    """
    try:
        yield
    except (ModelFileError, UnsupportedEnsembleError):
        raise
    except KeyError as error:
        raise _broken(library, source, f"it has no {error}") from None
    except RecursionError:
        raise _broken(library, source, "it nests too deeply") from None
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        raise _broken(library, source, str(error) or type(error).__name__) from None


def _broken(library, source, why):
    why = " ".join(why.split()).rstrip(".")
    return ModelFileError(f"{source!r} is not a whole {library} model: {why}.")
