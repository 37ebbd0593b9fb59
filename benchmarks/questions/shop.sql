-- What a shop asks of its orders.

-- question: customer lifetime value by quarterly cohort
-- by: cohort
-- target: 0.15
WITH spent AS (
    SELECT c.customer_id, date_trunc('quarter', c.joined) AS cohort, SUM(i.quantity * i.unit_price) AS value
    FROM customers c JOIN orders o USING (customer_id) JOIN order_items i USING (order_id)
    GROUP BY c.customer_id, cohort)
SELECT cohort, AVG(value) AS lifetime_value FROM spent GROUP BY cohort ORDER BY cohort;

-- question: customer lifetime value by monthly cohort, customers without orders included
-- by: cohort
SELECT date_trunc('month', c.joined) AS cohort, COUNT(*) AS customers, AVG(COALESCE(s.value, 0)) AS lifetime_value
FROM customers c LEFT JOIN (
    SELECT o.customer_id, SUM(i.quantity * i.unit_price) AS value
    FROM orders o JOIN order_items i USING (order_id) GROUP BY o.customer_id) s USING (customer_id)
GROUP BY cohort ORDER BY cohort;

-- question: customers by lifetime value
-- by: band
SELECT CASE WHEN value < 50 THEN '0-50' WHEN value < 200 THEN '50-200' WHEN value < 500 THEN '200-500' ELSE '500+' END
       AS band, COUNT(*) AS customers, SUM(value) AS revenue
FROM (SELECT o.customer_id, SUM(i.quantity * i.unit_price) AS value
      FROM orders o JOIN order_items i ON i.order_id = o.order_id GROUP BY o.customer_id)
GROUP BY band ORDER BY band;

-- question: revenue by decile of customers
-- by: decile
SELECT decile, SUM(value) AS revenue, SUM(value) / SUM(SUM(value)) OVER () AS share FROM (
    SELECT customer_id, value, NTILE(10) OVER (ORDER BY value DESC) AS decile FROM (
        SELECT customer_id, SUM(quantity * unit_price) AS value FROM orders JOIN order_items USING (order_id) GROUP BY 1))
GROUP BY decile ORDER BY decile;

-- question: revenue by month
-- by: month
SELECT date_trunc('month', o.ordered_at) AS month, SUM(i.quantity * i.unit_price) AS revenue
FROM orders o JOIN order_items i USING (order_id)
WHERE o.status <> 'cancelled' GROUP BY month ORDER BY month;

-- question: running revenue of 2024
-- by: month
SELECT month(o.ordered_at) AS month, SUM(SUM(i.quantity * i.unit_price)) OVER (ORDER BY month(o.ordered_at)) AS running
FROM orders o JOIN order_items i USING (order_id) WHERE year(o.ordered_at) = 2024 GROUP BY 1 ORDER BY 1;

-- question: orders year over year
-- by: month
SELECT month(ordered_at) AS month,
       COUNT(*) FILTER (WHERE year(ordered_at) = 2024) / COUNT(*) FILTER (WHERE year(ordered_at) = 2023) - 1 AS growth
FROM orders GROUP BY month ORDER BY month;

-- question: revenue year over year with LAG
-- by: month
WITH monthly AS (
    SELECT date_trunc('month', ordered_at) AS month, SUM(quantity * unit_price) AS revenue
    FROM orders JOIN order_items USING (order_id) GROUP BY 1)
SELECT month, revenue, revenue - LAG(revenue, 12) OVER (ORDER BY month) AS change FROM monthly ORDER BY month;

-- question: average order value
SELECT SUM(i.quantity * i.unit_price) / COUNT(DISTINCT o.order_id) AS aov
FROM orders o JOIN order_items i ON o.order_id = i.order_id;

-- question: average order value by month
-- by: month
WITH totals AS (
    SELECT o.order_id, o.ordered_at, SUM(i.quantity * i.unit_price) AS total
    FROM orders o JOIN order_items i USING (order_id) GROUP BY o.order_id, o.ordered_at)
SELECT strftime(ordered_at, '%Y-%m') AS month, COUNT(*) AS orders, AVG(total) AS aov
FROM totals GROUP BY month ORDER BY month;

-- question: average order value with and without a coupon
-- by: coupon_used
SELECT coupon IS NOT NULL AS coupon_used, AVG(total) AS aov FROM (
    SELECT order_id, coupon, SUM(quantity * unit_price) AS total
    FROM orders JOIN order_items USING (order_id) GROUP BY order_id, coupon)
GROUP BY coupon_used ORDER BY coupon_used;

-- question: median order value by channel
-- by: channel
SELECT channel, MEDIAN(total) AS median FROM (
    SELECT c.customer_id, c.channel, o.order_id, SUM(i.quantity * i.unit_price) AS total
    FROM customers c JOIN orders o USING (customer_id) JOIN order_items i USING (order_id) GROUP BY ALL)
GROUP BY channel ORDER BY channel;

-- question: repeat rate
SELECT COUNT(*) FILTER (WHERE orders >= 2) / COUNT(*) AS repeat_rate
FROM (SELECT customer_id, COUNT(*) AS orders FROM orders GROUP BY customer_id);

-- question: repeat rate by channel
-- by: channel
SELECT channel, AVG((orders > 1)::INT) AS repeat_rate FROM (
    SELECT c.customer_id, c.channel, COUNT(*) AS orders FROM customers c JOIN orders o USING (customer_id) GROUP BY 1, 2)
GROUP BY channel ORDER BY repeat_rate DESC;

-- question: customers by number of orders
-- by: orders
SELECT orders, COUNT(*) AS customers
FROM (SELECT customer_id, COUNT(order_id) AS orders FROM customers LEFT JOIN orders USING (customer_id) GROUP BY 1)
GROUP BY orders ORDER BY orders LIMIT 10;

-- question: active customers by month
-- by: month
SELECT date_trunc('month', ordered_at) AS month, COUNT(DISTINCT customer_id) AS customers
FROM orders GROUP BY month ORDER BY month;

-- question: first and repeat orders by month
-- by: month, kind
SELECT date_trunc('month', ordered_at) AS month, CASE WHEN n = 1 THEN 'first' ELSE 'repeat' END AS kind, COUNT(*) AS orders
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY ordered_at) AS n FROM orders)
GROUP BY 1, 2 ORDER BY 1, 2;

-- question: customers with a second order in 90 days, by quarter of the first
-- by: quarter
WITH ranked AS (
    SELECT customer_id, ordered_at, LEAD(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at) AS next,
           ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY ordered_at) AS n
    FROM orders)
SELECT date_trunc('quarter', ordered_at) AS quarter, COUNT(*) AS customers,
       COUNT(*) FILTER (WHERE next <= ordered_at + INTERVAL 90 DAY) / COUNT(*) AS again
FROM ranked WHERE n = 1 GROUP BY quarter ORDER BY quarter;

-- question: days between orders
SELECT AVG(date_diff('day', earlier, ordered_at)) AS mean_days, MEDIAN(date_diff('day', earlier, ordered_at)) AS median_days
FROM (SELECT ordered_at, LAG(ordered_at) OVER (PARTITION BY customer_id ORDER BY ordered_at) AS earlier FROM orders)
WHERE earlier IS NOT NULL;

-- question: days from joining to the first order
SELECT MEDIAN(first_order - joined) AS days FROM (
    SELECT c.customer_id, c.joined, MIN(o.ordered_at)::DATE AS first_order
    FROM customers c JOIN orders o USING (customer_id) GROUP BY c.customer_id, c.joined);

-- question: lapsed customers
SELECT COUNT(*) AS lapsed FROM customers c
WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND o.ordered_at >= '2024-07-01');

-- question: recency, frequency and value
-- by: recent, frequent
SELECT latest >= '2024-10-01' AS recent, n >= 3 AS frequent, COUNT(*) AS customers, AVG(value) AS value FROM (
    SELECT customer_id, MAX(ordered_at) AS latest, COUNT(DISTINCT order_id) AS n, SUM(quantity * unit_price) AS value
    FROM orders JOIN order_items USING (order_id) GROUP BY customer_id)
GROUP BY 1, 2 ORDER BY 1, 2;

-- question: revenue by category and its share
-- by: category
SELECT p.category, SUM(i.quantity * i.unit_price) AS revenue,
       100 * SUM(i.quantity * i.unit_price) / SUM(SUM(i.quantity * i.unit_price)) OVER () AS percent
FROM order_items i JOIN products p USING (product_id) GROUP BY p.category ORDER BY revenue DESC;

-- question: customers by category
-- by: category
SELECT category, COUNT(DISTINCT customer_id) AS customers
FROM orders JOIN order_items USING (order_id) JOIN products USING (product_id)
GROUP BY category ORDER BY customers DESC;

-- question: top products by revenue
-- by: product_id, name
SELECT p.product_id, p.name, SUM(i.quantity * i.unit_price) AS revenue
FROM order_items i JOIN products p ON p.product_id = i.product_id
GROUP BY p.product_id, p.name ORDER BY revenue DESC LIMIT 10;

-- question: top product of each category
-- by: category
SELECT category, name, sold FROM (
    SELECT category, name, SUM(quantity) AS sold, RANK() OVER (PARTITION BY category ORDER BY SUM(quantity) DESC) AS place
    FROM order_items JOIN products USING (product_id) GROUP BY category, name)
WHERE place = 1 ORDER BY category;

-- question: products without a sale in December
SELECT COUNT(*) AS products FROM products p WHERE NOT EXISTS (
    SELECT 1 FROM order_items i JOIN orders o USING (order_id)
    WHERE i.product_id = p.product_id AND o.ordered_at >= '2024-12-01');

-- question: products bought together
-- by: a, b
SELECT a.product_id AS a, b.product_id AS b, COUNT(*) AS orders
FROM order_items a JOIN order_items b ON a.order_id = b.order_id AND a.product_id < b.product_id
GROUP BY 1, 2 ORDER BY orders DESC LIMIT 20;

-- question: categories bought together
-- by: a, b
SELECT pa.category AS a, pb.category AS b, COUNT(DISTINCT ia.order_id) AS orders
FROM order_items ia JOIN order_items ib ON ia.order_id = ib.order_id AND ia.line <> ib.line
JOIN products pa ON pa.product_id = ia.product_id JOIN products pb ON pb.product_id = ib.product_id
WHERE pa.category < pb.category GROUP BY 1, 2 ORDER BY orders DESC;

-- question: customers of three categories or more
SELECT COUNT(*) AS customers FROM (
    SELECT o.customer_id FROM orders o JOIN order_items i USING (order_id) JOIN products p USING (product_id)
    GROUP BY o.customer_id HAVING COUNT(DISTINCT p.category) >= 3);

-- question: items an order
SELECT AVG(n) AS lines, AVG(pieces) AS pieces
FROM (SELECT order_id, COUNT(*) AS n, SUM(quantity) AS pieces FROM order_items GROUP BY order_id);

-- question: returns and cancellations by country
-- by: country
SELECT c.country, AVG((o.status = 'returned')::INT) AS returned, AVG((o.status = 'cancelled')::INT) AS cancelled
FROM orders o JOIN customers c ON c.customer_id = o.customer_id GROUP BY c.country ORDER BY c.country;

-- question: revenue by country and channel with totals
-- by: country, channel
SELECT c.country, c.channel, SUM(i.quantity * i.unit_price) AS revenue
FROM customers c JOIN orders o USING (customer_id) JOIN order_items i USING (order_id)
GROUP BY ROLLUP (c.country, c.channel) ORDER BY ALL;

-- question: discount against quantity
SELECT CORR(i.quantity, 1 - i.unit_price / p.list_price) AS r FROM order_items i JOIN products p USING (product_id);

-- question: orders by age of the customer
-- by: decade
SELECT (2024 - c.birth_year) // 10 * 10 AS decade, COUNT(*) AS orders, COUNT(DISTINCT c.customer_id) AS customers
FROM customers c JOIN orders o USING (customer_id) GROUP BY decade ORDER BY decade;

-- question: coupons used
-- by: coupon
SELECT coupon, COUNT(*) AS orders, COUNT(DISTINCT customer_id) AS customers
FROM orders WHERE coupon IS NOT NULL GROUP BY coupon ORDER BY orders DESC;
