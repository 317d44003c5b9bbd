-- What a job on a client did with a target of a node.
CREATE VIEW flows AS
SELECT
    fs,
    node,
    target,
    on_mdt,
    nid,
    job,
    rpcs,
    errors,
    reads,
    -- Bytes are unknown only if there were reads and none of them could be sized.
    CASE WHEN reads = 0 THEN 0 ELSE read_bytes END AS read_bytes,
    CASE WHEN reads = 0 THEN 0 ELSE read_bytes_min END AS read_bytes_min,
    CASE WHEN reads = 0 THEN 0 ELSE read_bytes_max END AS read_bytes_max,
    writes,
    CASE WHEN writes = 0 THEN 0 ELSE write_bytes END AS write_bytes,
    CASE WHEN writes = 0 THEN 0 ELSE write_bytes_min END AS write_bytes_min,
    CASE WHEN writes = 0 THEN 0 ELSE write_bytes_max END AS write_bytes_max,
    unsized_rpcs,
    first_time,
    last_time
FROM (
    SELECT
        fs,
        node,
        target,
        on_mdt,
        nid,
        job,
        count(*) AS rpcs,
        count(*) FILTER (WHERE failed) AS errors,
        count(*) FILTER (WHERE opcode_name = 'OST_READ') AS reads,
        CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) AS read_bytes,
        CAST(sum(bytes_min) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) AS read_bytes_min,
        CAST(sum(bytes_max) FILTER (WHERE opcode_name = 'OST_READ') AS BIGINT) AS read_bytes_max,
        count(*) FILTER (WHERE opcode_name = 'OST_WRITE') AS writes,
        CAST(sum(bytes) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) AS write_bytes,
        CAST(sum(bytes_min) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) AS write_bytes_min,
        CAST(sum(bytes_max) FILTER (WHERE opcode_name = 'OST_WRITE') AS BIGINT) AS write_bytes_max,
        count(*) FILTER (WHERE opcode_name IN ('OST_READ', 'OST_WRITE') AND bytes IS NULL) AS unsized_rpcs,
        min(end_time) AS first_time,
        max(end_time) AS last_time
    FROM rpcs
    GROUP BY fs, node, target, on_mdt, nid, job
) AS sums;
