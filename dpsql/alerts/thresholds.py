"""The noisy thresholds of an alert: they are in the ledger, and in no answer."""

from __future__ import annotations

import json
import os
from functools import partial

from dpsql.ir.alert import AlertPlan
from dpsql.mechanisms import above_threshold, sampler


def drawn_thresholds(planned: AlertPlan) -> bytes:
    """Draw the thresholds, one for each true."""
    draw = partial(sampler.laplace, words=os.urandom)
    alert = planned.alert
    drawn = above_threshold.thresholds(alert.above, planned.step, planned.scale, alert.times, draw)
    return json.dumps(drawn).encode()
