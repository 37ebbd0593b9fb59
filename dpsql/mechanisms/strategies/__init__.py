"""Answer many questions together: measure a whole-number matrix A of exact cells, and recover the cells.

    W        the questions: a row of whole numbers each, a column for each cell           gram: V = W'W
    A        what is measured instead of W: chosen for V, from public numbers alone       laplace, gaussian
    A x      exact and whole; noise is added to it                                        dense, kronecker
    cells    least squares with the same A; every question is then a sum of cells         solve, whole_cells

    chosen  = gaussian.optimal(gram.gram(rows))                  real numbers, and a lower bound of any error
    planned = whole_numbered(chosen, clip, deviation)            a Strategy: its matrix times 2^20, rounded
    numbers = planned.measured(cells)                            private
    cells   = planned.solve(numbers with noise)                  released

Claim, proof and test of what a unit moves are in ``strategy``. Nothing here reads data but ``measured``.
"""
