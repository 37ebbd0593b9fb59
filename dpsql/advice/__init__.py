"""Advice to the owner: what prices, budgets, rows per unit and accountants give, for a few questions.

    policy, schema --questions--> a few questions --planner--> plans under many settings --advice--> figures

Every figure is the planner's own, for a plan that could be asked under that setting. No private row is read,
nothing is debited, and no ledger is opened.
"""
