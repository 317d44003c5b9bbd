-- Requests that ended with an error.
SELECT
    node,
    nid,
    job,
    opcode,
    target,
    mdt,
    rc,
    count(*) AS rpcs,
    min(end_us) AS first_us,
    max(end_us) AS last_us
FROM (SELECT *, {mdt} AS mdt FROM raw.rpcs WHERE rc < 0 AND {servers}) AS requests
GROUP BY node, nid, job, opcode, target, mdt, rc
