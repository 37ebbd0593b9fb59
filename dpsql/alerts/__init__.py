"""Private alerts of a session: planned, bought once, asked until the first true.

CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 100)      planning -> answers: thresholds are drawn
SELECT DP_ABOVE('flu', COUNT(*)) FROM visits WHERE ...          planning -> answers: false ... true
"""
