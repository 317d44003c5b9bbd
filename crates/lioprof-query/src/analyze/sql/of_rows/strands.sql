-- RPCs that are alike in all that they are counted by. Opcodes 3 and 4 are OST_READ and OST_WRITE.
SELECT
    node,
    nid,
    client_uuid,
    job,
    opcode,
    target,
    mdt,
    uid,
    gid,
    projid,
    count(*) AS rpcs,
    count(*) FILTER (WHERE resent) AS resent,
    count(*) FILTER (WHERE replay) AS replayed,
    named_struct(
        'rpcs', count(*) FILTER (WHERE read_or_write),
        'errors', count(*) FILTER (WHERE read_or_write AND failed),
        'bytes', coalesce(CAST(sum(bytes) FILTER (WHERE read_or_write) AS BIGINT), 0),
        'bytes_min', coalesce(CAST(sum(bytes_min) FILTER (WHERE read_or_write) AS BIGINT), 0),
        'bytes_max', coalesce(CAST(sum(bytes_max) FILTER (WHERE read_or_write) AS BIGINT), 0),
        'exact_rpcs', count(*) FILTER (WHERE read_or_write AND bytes_exact),
        'bounded_rpcs', count(*) FILTER (WHERE read_or_write AND bytes IS NOT NULL AND NOT bytes_exact),
        'unsized_rpcs', count(*) FILTER (WHERE read_or_write AND bytes IS NULL)
    ) AS io
FROM (
    SELECT
        *,
        {mdt} AS mdt,
        opcode IN (3, 4) AS read_or_write,
        rc < 0 OR dropped AS failed
    FROM raw.rpcs
    WHERE {servers}
) AS requests
GROUP BY node, nid, client_uuid, job, opcode, target, mdt, uid, gid, projid
