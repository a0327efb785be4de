# SPDX-License-Identifier: MIT
"""SHORT in the environment: a measurement only shows that it works.  Its figures
mean nothing, and no verdict fails it.

SHORT=1 runs everything once and briefly.  SHORT=2 also cuts each load to a
tenth of a second, which is what `make check` has time for."""

import os

SHORT = os.environ.get("SHORT") in ("1", "2")
MOMENT = os.environ.get("SHORT") == "2"


def brief(normal, short, moment=None):
    """The value for a full run, for a short one, or for a moment (the short one
    by default)."""
    if MOMENT and moment is not None:
        return moment
    return short if SHORT else normal
