-- Sizes of targets' reads and writes: the exponent of the smallest power of two not below the bytes. Sizes repeat, so they are
-- counted first; the length of a number in hexadecimal is a logarithm without rounding.
SELECT node, target, mdt, opcode, log2_bytes, sum(rpcs) AS rpcs, sum(bounded_rpcs) AS bounded_rpcs
FROM (
    SELECT node, target, mdt, opcode, rpcs, bounded_rpcs,
        CASE
            WHEN bytes <= 1 THEN 0
            ELSE 4 * (character_length(hex) - 1)
                + CASE WHEN hex < '2' THEN 1 WHEN hex < '4' THEN 2 WHEN hex < '8' THEN 3 ELSE 4 END
        END AS log2_bytes
    FROM (
        SELECT *, to_hex(CASE WHEN bytes <= 1 THEN 1 ELSE bytes - 1 END) AS hex
        FROM (
            SELECT node, target, mdt, opcode, CAST(bytes AS BIGINT) AS bytes, count(*) AS rpcs, count(*) FILTER (WHERE NOT bytes_exact) AS bounded_rpcs
            FROM (
                SELECT *, {mdt} AS mdt
                FROM raw.rpcs
                WHERE opcode IN (3, 4) AND bytes IS NOT NULL AND NOT (rc < 0 OR dropped) AND {servers}
            ) AS requests
            GROUP BY node, target, mdt, opcode, bytes
        ) AS sizes
    ) AS numbers
) AS powers
GROUP BY node, target, mdt, opcode, log2_bytes
