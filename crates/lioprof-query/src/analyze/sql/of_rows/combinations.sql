-- RPCs grouped by every counting key. Opcodes 3 and 4 are OST_READ and OST_WRITE.
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
    {read_or_write} AS io
FROM (SELECT *, {mdt} AS mdt FROM raw.rpcs WHERE {servers}) AS requests
GROUP BY node, nid, client_uuid, job, opcode, target, mdt, uid, gid, projid
