-- How long the RPCs of a target of a node took, by operation and phase; percentiles are at most 1/128 above the true ones.
CREATE VIEW latency AS
SELECT
    fs,
    node,
    target,
    opcode_name,
    phase,
    max(upto) AS rpcs,
    least(min(high_us) FILTER (WHERE upto >= 0.5 * rpcs), max(longest_us)) AS p50_us,
    least(min(high_us) FILTER (WHERE upto >= 0.9 * rpcs), max(longest_us)) AS p90_us,
    least(min(high_us) FILTER (WHERE upto >= 0.99 * rpcs), max(longest_us)) AS p99_us,
    least(min(high_us) FILTER (WHERE upto >= 0.999 * rpcs), max(longest_us)) AS p999_us,
    max(longest_us) AS max_us
FROM (
    SELECT
        fs,
        node,
        target,
        opcode_name,
        phase,
        longest_us,
        -- The longest time of a bucket: there is one per microsecond up to 255, then 128 per factor of two.
        ((bucket - 128 * octave + 1) << octave) - 1 AS high_us,
        sum(n) OVER (PARTITION BY fs, node, target, opcode_name, phase ORDER BY bucket) AS upto,
        sum(n) OVER (PARTITION BY fs, node, target, opcode_name, phase) AS rpcs
    FROM (
        SELECT *, greatest((bucket >> 7) - 1, 0) AS octave
        FROM (
            SELECT fs, node, target, opcode_name, 'queue' AS phase, CAST(queue_bucket AS BIGINT) AS bucket,
                count(*) AS n, max(queue_us) AS longest_us
            FROM rpcs
            WHERE queue_bucket IS NOT NULL
            GROUP BY fs, node, target, opcode_name, queue_bucket
            UNION ALL
            SELECT fs, node, target, opcode_name, 'service' AS phase, CAST(service_bucket AS BIGINT) AS bucket,
                count(*) AS n, max(service_us) AS longest_us
            FROM rpcs
            WHERE service_bucket IS NOT NULL
            GROUP BY fs, node, target, opcode_name, service_bucket
            UNION ALL
            SELECT fs, node, target, opcode_name, 'total' AS phase, CAST(total_bucket AS BIGINT) AS bucket,
                count(*) AS n, max(total_us) AS longest_us
            FROM rpcs
            WHERE total_bucket IS NOT NULL
            GROUP BY fs, node, target, opcode_name, total_bucket
        ) AS histogram
    ) AS buckets
) AS ranked
GROUP BY fs, node, target, opcode_name, phase;
