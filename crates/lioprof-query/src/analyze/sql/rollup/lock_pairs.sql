-- Pairs of clients, of all nodes together.
SELECT '' AS node, target, holder, waiter,
    {pair_sums}
FROM rollup.lock_pairs
GROUP BY target, holder, waiter
