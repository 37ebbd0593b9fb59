-- An outer join that keeps the public side, read as the inner join with the public side as key domain.

-- case: visits of every place
-- outcome: accepted
SELECT l.place_id, l.city, COUNT(v.visit_id) AS visits
FROM places l LEFT JOIN visits v ON v.place_id = l.place_id
GROUP BY l.place_id, l.city;

-- case: costs of every place, from the right
-- outcome: accepted
SELECT l.kind, SUM(v.cost) AS cost FROM visits v RIGHT JOIN places l ON v.place_id = l.place_id GROUP BY l.kind;

-- case: a public table whose key no constraint keeps, and which has it twice
-- outcome: accepted
SELECT t.kind, COUNT(v.visit_id) AS n FROM tariffs t LEFT JOIN visits v USING (kind) GROUP BY t.kind;
