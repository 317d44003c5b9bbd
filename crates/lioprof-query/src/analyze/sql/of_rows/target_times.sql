-- Times of targets' reads and writes. Histograms add up bucket by bucket.
WITH requests AS (
    SELECT *, {mdt} AS mdt FROM raw.rpcs WHERE opcode IN (3, 4) AND {servers}
)
SELECT node, target, mdt, opcode, span,
    named_struct('bucket', bucket, 'count', count, 'sum_us', sum_us, 'max_us', max_us) AS times
FROM (
    SELECT node, target, mdt, opcode, 'queue' AS span, queue_bucket AS bucket,
        count(*) AS count, sum(total_us - service_us) AS sum_us, max(total_us - service_us) AS max_us
    FROM requests
    WHERE queue_bucket IS NOT NULL
    GROUP BY node, target, mdt, opcode, queue_bucket
    UNION ALL
    SELECT node, target, mdt, opcode, 'service' AS span, service_bucket AS bucket,
        count(*) AS count, sum(service_us) AS sum_us, max(service_us) AS max_us
    FROM requests
    WHERE service_bucket IS NOT NULL
    GROUP BY node, target, mdt, opcode, service_bucket
    UNION ALL
    SELECT node, target, mdt, opcode, 'total' AS span, total_bucket AS bucket,
        count(*) AS count, sum(total_us) AS sum_us, max(total_us) AS max_us
    FROM requests
    WHERE total_bucket IS NOT NULL
    GROUP BY node, target, mdt, opcode, total_bucket
) AS spans
