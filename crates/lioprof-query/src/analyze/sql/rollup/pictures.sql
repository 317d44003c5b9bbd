-- Momentary pictures at the largest distance of all nodes: of those that are closer together each second, fourth, ... counts.
SELECT
    '' AS node, write, largest_us AS step_us, number * step_us / largest_us AS number, target, sum(requests) AS requests
FROM rollup.pictures
JOIN (SELECT write AS of_writes, max(step_us) AS largest_us FROM rollup.pictures GROUP BY write) AS largest
    ON write = of_writes
WHERE number * step_us % largest_us = 0
GROUP BY write, largest_us, number * step_us / largest_us, target
