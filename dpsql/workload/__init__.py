"""Many numbers together: the cells that their conditions tell apart, and each number as a sum of cells.

    numbers     questions.py     COUNT(*) ... WHERE age < 20, ... GROUP BY sex      conditions, a row of W
    cells       cells.py         age below 20 or not, sex F, M or else              a column of W

plan/joint.py chooses the matrix that is measured in place of the numbers. Nothing here reads data.
"""
