"""Votes of teachers: learners that each see the rows of some units, and one label for each public row.

vote.py         text -> plan -> pay -> rows -> votes -> labels
learner.py      which function of which file the owner gave
shares.py       which teacher has a unit, and the order of a teacher's rows
processes.py    a process of its own for each teacher; teacher_program.py is what runs there
"""
