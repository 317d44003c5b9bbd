-- Parts of the service times of reads and writes whose bulk transfer is known. Histograms add up bucket by bucket.
WITH transfers AS (
    SELECT node, target, {mdt} AS mdt, nid, opcode, end_us, CAST(bytes AS BIGINT) AS bytes,
        CAST(before_bulk_us AS BIGINT) AS before_us,
        CAST(bulk_us AS BIGINT) AS transfer_us,
        CAST(service_us - before_bulk_us - bulk_us AS BIGINT) AS after_us
    FROM raw.rpcs
    WHERE opcode IN (3, 4) AND before_bulk_us IS NOT NULL AND bulk_us IS NOT NULL AND bytes IS NOT NULL
        AND before_bulk_us + bulk_us <= service_us AND {servers}
)
SELECT node, target, mdt, nid, opcode, log2_bytes, part,
    named_struct('bucket', bucket, 'count', count(*), 'sum_us', sum(us), 'max_us', max(us)) AS times,
    sum(bytes) AS bytes, min(end_us) AS first_us, max(end_us) AS last_us
FROM (
    SELECT node, target, mdt, nid, opcode, {log2_bytes} AS log2_bytes, part, {bucket} AS bucket, us, bytes, end_us
    FROM (
        SELECT *, 'before' AS part, before_us AS us FROM transfers
        UNION ALL
        SELECT *, 'transfer' AS part, transfer_us AS us FROM transfers
        UNION ALL
        SELECT *, 'after' AS part, after_us AS us FROM transfers
    ) AS parts
) AS buckets
GROUP BY node, target, mdt, nid, opcode, log2_bytes, part, bucket
