"""The kinds of details: whatever is measured of a group beside sums, a folder each.

    quantiles      MEDIAN, quantiles, MIN, MAX    choices among the bins of a public grid
    votes          MODE                           one choice among declared values
    matching       COUNT(DISTINCT x)              a count of claimed values, with noise
    blocks         DP_SAMPLE                      one choice among the values of blocks of units
    bound_search   a bound that nobody declared   one choice among ranges

A kind is a folder with eight files of the same names: ``detail`` (the class that plans hold) and the parts
that ``dpsql/detail_kinds.py`` describes. To add one, add its folder, and an aggregate that names it.

Layer: above the rooms whose printers and values the parts are made of (engines, post, explain), below the
session. No room below imports a kind: it asks ``detail_kinds.part`` for a part by its name. A part imports no
more than the room that asks for it might, and kinds do not import each other; pyproject.toml says both.

Exact numbers become released ones through ``dpsql/release`` alone: nobody else asks for a kind's ``release``
part. Of the others ``sql`` makes weights of what the engine has fetched, for the engine, and ``audit`` may
read them, for the owner. No part is given an exact table.
"""
