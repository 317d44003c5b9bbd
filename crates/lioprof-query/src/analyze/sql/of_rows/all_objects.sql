-- All objects together.
SELECT
    count(*) AS objects,
    named_struct(
        'rpcs', coalesce(sum(read_rpcs), 0),
        'errors', coalesce(sum(read_errors), 0),
        'bytes', coalesce(sum(read_bytes), 0),
        'bytes_min', coalesce(sum(read_bytes_min), 0),
        'bytes_max', coalesce(sum(read_bytes_max), 0),
        'exact_rpcs', coalesce(sum(read_exact_rpcs), 0),
        'bounded_rpcs', coalesce(sum(read_bounded_rpcs), 0),
        'unsized_rpcs', coalesce(sum(read_unsized_rpcs), 0)
    ) AS read,
    named_struct(
        'rpcs', coalesce(sum(write_rpcs), 0),
        'errors', coalesce(sum(write_errors), 0),
        'bytes', coalesce(sum(write_bytes), 0),
        'bytes_min', coalesce(sum(write_bytes_min), 0),
        'bytes_max', coalesce(sum(write_bytes_max), 0),
        'exact_rpcs', coalesce(sum(write_exact_rpcs), 0),
        'bounded_rpcs', coalesce(sum(write_bounded_rpcs), 0),
        'unsized_rpcs', coalesce(sum(write_unsized_rpcs), 0)
    ) AS write
FROM (
    SELECT
        target, fid_seq, fid_oid, fid_ver, resource_0, resource_1,
        count(*) FILTER (WHERE opcode = 3) AS read_rpcs,
        count(*) FILTER (WHERE opcode = 3 AND (rc < 0 OR dropped)) AS read_errors,
        CAST(sum(bytes) FILTER (WHERE opcode = 3) AS BIGINT) AS read_bytes,
        CAST(sum(bytes_min) FILTER (WHERE opcode = 3) AS BIGINT) AS read_bytes_min,
        CAST(sum(bytes_max) FILTER (WHERE opcode = 3) AS BIGINT) AS read_bytes_max,
        count(*) FILTER (WHERE opcode = 3 AND bytes_exact) AS read_exact_rpcs,
        count(*) FILTER (WHERE opcode = 3 AND bytes IS NOT NULL AND NOT bytes_exact) AS read_bounded_rpcs,
        count(*) FILTER (WHERE opcode = 3 AND bytes IS NULL) AS read_unsized_rpcs,
        count(*) FILTER (WHERE opcode = 4) AS write_rpcs,
        count(*) FILTER (WHERE opcode = 4 AND (rc < 0 OR dropped)) AS write_errors,
        CAST(sum(bytes) FILTER (WHERE opcode = 4) AS BIGINT) AS write_bytes,
        CAST(sum(bytes_min) FILTER (WHERE opcode = 4) AS BIGINT) AS write_bytes_min,
        CAST(sum(bytes_max) FILTER (WHERE opcode = 4) AS BIGINT) AS write_bytes_max,
        count(*) FILTER (WHERE opcode = 4 AND bytes_exact) AS write_exact_rpcs,
        count(*) FILTER (WHERE opcode = 4 AND bytes IS NOT NULL AND NOT bytes_exact) AS write_bounded_rpcs,
        count(*) FILTER (WHERE opcode = 4 AND bytes IS NULL) AS write_unsized_rpcs
    FROM raw.rpcs
    WHERE opcode IN (3, 4) AND target IS NOT NULL AND (fid_seq IS NOT NULL OR resource_0 IS NOT NULL) AND {servers}
    GROUP BY target, fid_seq, fid_oid, fid_ver, resource_0, resource_1
) AS objects
