-- Sizes of targets' reads and writes: the exponent of the smallest power of two not below the bytes. Sizes repeat, so they are
-- counted first.
SELECT node, target, mdt, opcode, log2_bytes, sum(rpcs) AS rpcs, sum(bounded_rpcs) AS bounded_rpcs
FROM (
    SELECT node, target, mdt, opcode, {log2_bytes} AS log2_bytes, rpcs, bounded_rpcs
    FROM (
        SELECT node, target, mdt, opcode, CAST(bytes AS BIGINT) AS bytes, count(*) AS rpcs, count(*) FILTER (WHERE NOT bytes_exact) AS bounded_rpcs
        FROM (
            SELECT *, {mdt} AS mdt
            FROM raw.rpcs
            WHERE opcode IN (3, 4) AND bytes IS NOT NULL AND NOT (rc < 0 OR dropped) AND {servers}
        ) AS requests
        GROUP BY node, target, mdt, opcode, bytes
    ) AS sizes
) AS powers
GROUP BY node, target, mdt, opcode, log2_bytes
