-- Private rows tied by a column that tells the unit: the equality of the units is added. Where rows break the
-- declaration (in one world a patient has the refunds of all orders), pairs are missing and nothing else.

-- case: rows of one order
-- outcome: accepted
SELECT COUNT(*) AS pairs FROM sales.refunds a JOIN sales.refunds b ON a.order_id = b.order_id;

-- case: another refund of the same order
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.refunds a
WHERE EXISTS (SELECT 1 FROM sales.refunds b WHERE a.order_id = b.order_id AND a.amount <> b.amount);

-- case: orders that came back
-- outcome: accepted
SELECT status, COUNT(*) AS n FROM sales.orders o
WHERE o.order_id IN (SELECT r.order_id FROM sales.refunds r WHERE r.order_id IS NOT NULL) GROUP BY status;

-- case: refunds without an order
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.refunds r WHERE NOT EXISTS (SELECT 1 FROM sales.orders o WHERE o.order_id = r.order_id);

-- case: a value of the order
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.refunds r
WHERE r.amount > (SELECT AVG(o.amount) / 2 FROM sales.orders o WHERE o.order_id = r.order_id);

-- case: a value of the refunds of the order
-- outcome: accepted
SELECT o.status, COUNT(*) AS n FROM sales.orders o
WHERE o.amount > (SELECT SUM(r.amount) FROM sales.refunds r WHERE r.order_id = o.order_id) GROUP BY o.status;

-- case: how often an order was refunded
-- outcome: accepted
SELECT refunds, COUNT(*) AS orders FROM (
    SELECT o.order_id, (SELECT COUNT(*) FROM sales.refunds r WHERE r.order_id = o.order_id) AS refunds FROM sales.orders o
) GROUP BY refunds HAVING refunds IN (0, 1, 2);

-- case: groups of an order
-- outcome: accepted
SELECT AVG(LEAST(n, 5)) AS refunds FROM (SELECT order_id, COUNT(*) AS n FROM sales.refunds GROUP BY order_id);

-- case: groups of an order, joined back
-- outcome: accepted
SELECT COUNT(*) AS n FROM sales.orders o
JOIN (SELECT order_id, SUM(amount) AS back FROM sales.refunds GROUP BY order_id) r ON r.order_id = o.order_id
WHERE r.back < o.amount;

-- case: a window over an order
-- outcome: accepted
SELECT COUNT(*) AS n FROM (
    SELECT amount, MAX(amount) OVER (PARTITION BY order_id) AS most FROM sales.refunds
) WHERE amount = most;

-- case: kept by a left join
-- outcome: accepted
SELECT COUNT(*) AS n, COUNT(r.amount) AS refunded FROM sales.orders o LEFT JOIN sales.refunds r USING (order_id);

-- case: a key under the name that others have for it
-- outcome: accepted
SELECT COUNT(*) AS n FROM (SELECT patient_id, order_id AS id, amount FROM sales.orders) o
JOIN (SELECT patient_id, order_id AS order_number, amount FROM sales.refunds) r ON r.order_number = o.id AND r.amount < o.amount;

-- case: whether an order was refunded, as a value
-- outcome: accepted
SELECT COUNT(*) FILTER (WHERE o.order_id IN (SELECT r.order_id FROM sales.refunds r WHERE r.order_id IS NOT NULL)) AS back,
    SUM(CASE WHEN o.order_id IN (SELECT order_id FROM sales.refunds WHERE order_id > 0 AND amount > 50) THEN o.amount ELSE 0 END) AS much
FROM sales.orders o;
