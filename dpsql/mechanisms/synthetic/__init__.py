"""Synthetic rows: a table of cells from noisy marginals, and whole rows that are drawn from it.

    plan      the events, from the columns' sizes, the clip and the price alone: debited as one    plan
    counts    exact marginals: the only private thing here                                         counts
    draws     spends these events and no others: choices and noise                                 draws
    measured  the marginals with their noise: all that is stored                                   measured
    table     what fits all of them, bit by bit the same on every machine                          consistent
    rows      so many whole rows of it, in a secret order                                          systematic

    mwem      the whole table, up to 200,000 cells; the worst marginal of two columns, again and again
    mst       a tree of marginals of two columns; each column of any size, any number of columns
    methods   either by its name

    method   = METHODS["mwem"]
    plan     = method.plan(Shape(sizes, clip, step), lambda share: accountant.allowance(..., share, False))
    ...        the caller debits plan.events
    draws    = Draws.from_bytes(plan.events, os.urandom)
    measured = method.measured(plan, RowCounts(codes, weights, sizes, step), draws)
    fitted   = method.fitted(measured)
    ...        fitted.total, fitted.marginal((0, 3)), fitted.rows(20_000, os.urandom)

``whole_rows`` does the last step for cells that were measured in another way.
"""
