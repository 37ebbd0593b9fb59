"""A policy that says something else than the default of every key."""

EVERY_KEY = """
timezone = "Europe/Oslo"

[budget]
epsilon = 10.0
delta = 1e-6
accountant = "rdp"
responses = 1.2
up_to = 12.0

[query]
epsilon = 1.0
max_epsilon = 2.0
min_epsilon = 0.01
find_bounds = false
bounds_last = false
min_units = 5

[limits]
seconds = 5
memory = "256MB"
rows = 1000

[ledger]
texts = "digest"
witness = "other/clinic.witness"
mirror = "other/"

[analysts.ana]
epsilon = 5.0
per_day = 0.5
per_week = 2.0
per_month = 3.0
megabytes = 3
tables = ["people.age", "adults"]

[analysts.bob]
epsilon = 1.0
group = "trainees"

[groups.trainees]
tables = ["people.age"]
epsilon = 3.0
analysts = ["ana"]

[studies.flu]
epsilon = 1.0

[unit]
name = "person"
table = "people"
key = "id"
column = "id"
about = 5000
blocks = { column = "age", values = [30, 31], check = true }

[tables.people]
files = "people-*.csv"
csv = { delim = ";", quote = "'", header = false, nullstr = "-", dateformat = "%d.%m.%Y", decimal = "," }

[tables.people.columns]
id = { type = "INTEGER" }
age = { type = "INTEGER", range = [0, 120], null = false, comment = "in whole years" }
town = { type = "VARCHAR", values = ["Oslo", "Bergen"] }
remark = { type = "VARCHAR", length = 200 }

[tables.visits]
key = "visit"
unit = { column = "id", references = "people.id" }
rows_per_unit = 3
check = "arrived <= left"

[tables.visits.columns]
visit = {}
id = {}
arrived = { type = "DATE" }
left = { type = "DATE" }
referral = { tells_unit = true }

[tables.doses]
unit = { column = ["of_visit", "of_person"], references = ["visits.visit", "visits.id"] }

[tables.logins]

[tables.towns]
public = true
key = "town"

[views.adults]
sql = "SELECT * FROM people WHERE age >= 18"

[views.census]
sql = "SELECT age, town FROM people"
private = { epsilon = 0.5, ranges = ["age"], dimensions = ["town"], sums = ["income"] }

[views.made]
sql = "SELECT age, town FROM people"
private = { method = "mst" }
"""
