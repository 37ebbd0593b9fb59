-- D252: randomized responses are for an owner's export; a query adds its noise to aggregates.

-- case: randomized responses in a query
-- outcome: refused D252 at 1:8
-- instead: SELECT ward, COUNT(*) FROM patients GROUP BY ward
SELECT DP_RANDOMIZED_RESPONSE(ward, 1.0) FROM patients;

-- case: a randomized response inside an aggregate
-- outcome: refused D252 at 1:12
SELECT AVG(DP_RANDOMIZED_RESPONSE(age, 1.0)) FROM patients;

-- case: a randomized response over public rows
-- outcome: refused D252 at 1:8
SELECT dp_randomized_response(floor, 1.0) FROM wards;
