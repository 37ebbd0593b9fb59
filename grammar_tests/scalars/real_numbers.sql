-- Functions of numbers that need not be whole.

-- case: division that rounds down
-- outcome: accepted
SELECT SUM(fdiv(cost, 7)) AS whole, SUM(fmod(cost, 7)) AS rest FROM visits;

-- case: rounding halves to even
-- outcome: accepted
SELECT SUM(round_even(cost, 1)) AS a, SUM(roundbankers(dose, 0)) AS b FROM visits v JOIN treatments t USING (visit_id);

-- case: the next number
-- outcome: accepted
SELECT SUM(nextafter(cost, 5000)) AS up FROM visits;

-- case: angles of two legs
-- outcome: accepted
SELECT SUM(atan2(minutes, cost)) AS angle, SUM(sinh(minutes / 480)) AS s, SUM(tanh(cost)) AS t FROM visits;

-- case: angles of two zeros, of which only a float may be negative
-- outcome: accepted
SELECT SUM(atan2(0, -0.0)) AS a, SUM(atan2(0, -0.0::DOUBLE)) AS b, SUM(atan2(0, (-0.04)::DECIMAL(3, 1))) AS c, SUM(atan2(0, -0e0)) AS d,
    SUM(atan2(0, cost * -0.0)) AS e, SUM(atan2(0, -0.5 * (cost - cost))) AS f, SUM(atan2(0, round(-cost / 1e9, 0))) AS g
FROM visits;

-- case: powers and roots
-- outcome: accepted
SELECT SUM(POW(height / 100, 2)) AS squares, SUM(cbrt(income)) AS roots FROM patients;

-- case: logarithms of three bases
-- outcome: accepted
SELECT SUM(log(1 + cost)) AS ten, SUM(log2(1 + cost)) AS two, SUM(log(3, 1 + cost)) AS three FROM visits;

-- case: made even, and the sign's bit
-- outcome: accepted
SELECT SUM(even(cost)) AS e, COUNT(*) FILTER (WHERE signbit(score)) AS negative FROM visits v JOIN patients p ON p.patient_id = v.patient_id;

-- case: tests for what is no number
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE isnan(score)) AS nan, COUNT(*) FILTER (WHERE isinf(score)) AS inf, COUNT(*) FILTER (WHERE isfinite(score)) AS finite FROM patients;

-- case: arithmetic by name
-- outcome: accepted
SELECT SUM(add(minutes, 1)) AS a, SUM(subtract(minutes, 1)) AS s, SUM(multiply(minutes, 2)) AS m, SUM(divide(minutes, 7)) AS d, SUM(mod(minutes, 7)) AS r FROM visits;
