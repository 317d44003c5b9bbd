-- Bins of targets' locks.
SELECT
    node, target, CAST({bin_us} AS BIGINT) AS bin_us, bin * bin_us / {bin_us} AS bin,
    sum(conflicts) AS conflicts,
    sum(true_conflicts) AS true_conflicts,
    sum(expansion_conflicts) AS expansion_conflicts,
    sum(blocking_asts) AS blocking_asts,
    sum(waiting_us) AS waiting_us
FROM rollup.lock_series
GROUP BY node, target, bin * bin_us / {bin_us}
