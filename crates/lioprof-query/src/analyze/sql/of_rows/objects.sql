-- The busiest objects. To count the clients of all objects would take a hundred times the memory; a join would sort all rows on a
-- cluster, and a hundred conditions are a plan that is too deep for it: so objects have names here.
SELECT
    target, fid_seq, fid_oid, fid_ver, resource_0, resource_1,
    named_struct(
        'rpcs', coalesce(sum(rpcs) FILTER (WHERE NOT is_write), 0),
        'errors', coalesce(sum(errors) FILTER (WHERE NOT is_write), 0),
        'bytes', coalesce(sum(bytes) FILTER (WHERE NOT is_write), 0),
        'bytes_min', coalesce(sum(bytes_min) FILTER (WHERE NOT is_write), 0),
        'bytes_max', coalesce(sum(bytes_max) FILTER (WHERE NOT is_write), 0),
        'exact_rpcs', coalesce(sum(exact_rpcs) FILTER (WHERE NOT is_write), 0),
        'bounded_rpcs', coalesce(sum(bounded_rpcs) FILTER (WHERE NOT is_write), 0),
        'unsized_rpcs', coalesce(sum(unsized_rpcs) FILTER (WHERE NOT is_write), 0)
    ) AS read,
    named_struct(
        'rpcs', coalesce(sum(rpcs) FILTER (WHERE is_write), 0),
        'errors', coalesce(sum(errors) FILTER (WHERE is_write), 0),
        'bytes', coalesce(sum(bytes) FILTER (WHERE is_write), 0),
        'bytes_min', coalesce(sum(bytes_min) FILTER (WHERE is_write), 0),
        'bytes_max', coalesce(sum(bytes_max) FILTER (WHERE is_write), 0),
        'exact_rpcs', coalesce(sum(exact_rpcs) FILTER (WHERE is_write), 0),
        'bounded_rpcs', coalesce(sum(bounded_rpcs) FILTER (WHERE is_write), 0),
        'unsized_rpcs', coalesce(sum(unsized_rpcs) FILTER (WHERE is_write), 0)
    ) AS write,
    count(DISTINCT nid) AS clients,
    count(*) FILTER (WHERE is_write) AS writers,
    min(first_byte) AS first_byte,
    max(last_byte) AS last_byte
FROM (
    SELECT
        target, fid_seq, fid_oid, fid_ver, resource_0, resource_1, nid, opcode = 4 AS is_write,
        count(*) AS rpcs,
        count(*) FILTER (WHERE rc < 0 OR dropped) AS errors,
        coalesce(CAST(sum(bytes) AS BIGINT), 0) AS bytes,
        coalesce(CAST(sum(bytes_min) AS BIGINT), 0) AS bytes_min,
        coalesce(CAST(sum(bytes_max) AS BIGINT), 0) AS bytes_max,
        count(*) FILTER (WHERE bytes_exact) AS exact_rpcs,
        count(*) FILTER (WHERE bytes IS NOT NULL AND NOT bytes_exact) AS bounded_rpcs,
        count(*) FILTER (WHERE bytes IS NULL) AS unsized_rpcs,
        min(extent_start) AS first_byte,
        max(extent_end) AS last_byte
    FROM raw.rpcs
    WHERE opcode IN (3, 4) AND {servers}
        AND target IN ({targets})
        AND concat(
            target,
            ' ', coalesce(CAST(fid_seq AS VARCHAR), '-'),
            ' ', coalesce(CAST(fid_oid AS VARCHAR), '-'),
            ' ', coalesce(CAST(fid_ver AS VARCHAR), '-'),
            ' ', coalesce(CAST(resource_0 AS VARCHAR), '-'),
            ' ', coalesce(CAST(resource_1 AS VARCHAR), '-')
        ) IN ({busiest})
    GROUP BY target, fid_seq, fid_oid, fid_ver, resource_0, resource_1, nid, opcode = 4
) AS parts
GROUP BY target, fid_seq, fid_oid, fid_ver, resource_0, resource_1
