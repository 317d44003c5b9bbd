-- Pairs of clients, of all nodes together.
SELECT
    '' AS node, target, holder, waiter,
    sum(conflicts) AS conflicts,
    sum(true_conflicts) AS true_conflicts,
    sum(expansion_conflicts) AS expansion_conflicts,
    sum(handovers) AS handovers,
    sum(wait_us) AS wait_us
FROM rollup.lock_pairs
GROUP BY target, holder, waiter
