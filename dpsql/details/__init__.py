"""The kinds of details: what is measured of a group besides sums. Each kind is one folder.

    quantiles      MEDIAN, quantiles, MIN, MAX    choices among the bins of a public grid
    votes          MODE                           one choice among declared values
    matching       COUNT(DISTINCT x)              a count of claimed values, with noise
    blocks         DP_SAMPLE                      one choice among the values of blocks of units
    bound_search   a bound that nobody declared   one choice among ranges
    clip_search    the clip that fits a query     one choice among clips

A kind is a folder with eight files of the same names: ``detail`` (the class that plans hold) and the parts
that ``dpsql/detail_kinds.py`` describes. To add one, add its folder, and an aggregate that names it.

Layer: above the rooms that the parts use (engines, post, explain), below the session. No room below imports a
kind: it asks ``detail_kinds.part`` for a part by name. A part imports only what the room that asks for it may
import, and kinds do not import each other; pyproject.toml enforces both.

Exact numbers become released numbers in ``dpsql/release`` only: no other room asks for the ``release`` part
of a kind. The ``sql`` part computes weights from fetched results, for the engine. The ``audit`` part may read
weights, for the owner. No part receives an exact table.
"""
