-- Clients that were thrown out: for locks that they did not give back, or because they had fallen silent.
SELECT
    node,
    nid,
    count(*) AS evictions,
    CAST(0 AS BIGINT) AS dropped_rpcs,
    CAST(0 AS BIGINT) AS resent_rpcs,
    CAST(0 AS BIGINT) AS replayed_rpcs,
    CAST(0 AS BIGINT) AS connects,
    min(time_us) AS first_us,
    max(time_us) AS last_us
FROM raw.lock_events
WHERE event IN ('evicted', 'silent_evicted') AND nid IS NOT NULL AND {servers}
GROUP BY node, nid
