"""Attacks that an owner can watch: the best known ones, each beside the bound of the promise.

world.py, made_up.py, owners.py   the data that is attacked, and its neighbours
ask.py                            how attackers ask: dpsql's analysts, or exact answers
averaging.py ... reuse.py         one attack a file: run(world, ask) -> Outcome
chances.py, show.py               what a guess may win; run, and judge against it
"""
