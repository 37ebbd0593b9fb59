-- Whole numbers: bits, divisors, digits.

-- case: bits shifted to the left
-- outcome: accepted
SELECT SUM(age << 3) AS eightfold, SUM(age >> 2) AS quarter FROM patients;

-- case: bits shifted out of the type
-- outcome: accepted
SELECT COUNT(children << 6) AS n FROM patients WHERE children < 2;

-- case: masks
-- outcome: accepted
SELECT SUM(age & 12) AS a, SUM(minutes_of | 3) AS o, SUM(xor(minutes_of, 5)) AS x FROM (SELECT patient_id, age, age + 1 AS minutes_of FROM patients);

-- case: bits turned over and counted
-- outcome: accepted
SELECT SUM(~age) AS turned, SUM(bit_count(age)) AS ones FROM patients;

-- case: the least common multiple
-- outcome: accepted
SELECT SUM(lcm(minutes, 12)) AS l, SUM(gcd(minutes, 12)) AS g FROM visits;

-- case: the multiple and the divisor by their long names
-- outcome: accepted
SELECT SUM(least_common_multiple(age, 10)) AS l, SUM(greatest_common_divisor(age, 10)) AS g FROM patients;

-- case: ways to choose
-- outcome: accepted
SELECT SUM(LEAST(binom(children, 2), 10)) AS pairs FROM patients WHERE children >= 0;

-- case: factorials of a few
-- outcome: accepted
SELECT SUM(LEAST(factorial(children::INTEGER), 24)) AS f FROM patients WHERE children BETWEEN 0 AND 4;

-- case: digits of other bases
-- outcome: accepted
SELECT hex(age) AS h, bin(age % 4) AS b, COUNT(*) AS n FROM patients GROUP BY ALL;

-- case: a base of one's own
-- outcome: accepted
SELECT to_base(age // 10, 3, 4) AS digits, COUNT(*) AS n FROM patients GROUP BY digits;

-- case: sizes in words
-- outcome: accepted
SELECT format_bytes(minutes * 100) AS size, formatReadableDecimalSize(minutes * 100) AS decimal_size, COUNT(*) AS n FROM visits GROUP BY ALL;
