-- What a target of a node did in each second in which RPCs ended.
CREATE VIEW bandwidth AS
SELECT
    second,
    fs,
    node,
    target,
    on_mdt,
    rpcs,
    reads,
    -- Bytes are unknown only if there were reads and none of them could be sized.
    CASE WHEN reads = 0 THEN 0 ELSE read_bytes END AS read_bytes,
    writes,
    CASE WHEN writes = 0 THEN 0 ELSE write_bytes END AS write_bytes,
    unsized_rpcs,
    estimated_rpcs
FROM (
    SELECT
        date_trunc('second', end_time) AS second,
        fs,
        node,
        target,
        on_mdt,
        count(*) AS rpcs,
        count(*) FILTER (WHERE opcode_name = 'OST_READ') AS reads,
        CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) AS read_bytes,
        count(*) FILTER (WHERE opcode_name = 'OST_WRITE') AS writes,
        CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) AS write_bytes,
        count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs,
        count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NOT NULL AND NOT bytes_exact)
            AS estimated_rpcs
    FROM rpcs
    GROUP BY date_trunc('second', end_time), fs, node, target, on_mdt
) AS seconds;
