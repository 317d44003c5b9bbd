-- What went wrong with clients' requests besides errors; opcodes 8 and 38 are OST_CONNECT and MDS_CONNECT.
-- Mounts begin with connects: these are no faults and have no time.
SELECT
    node,
    nid,
    CAST(0 AS BIGINT) AS evictions,
    count(*) FILTER (WHERE dropped) AS dropped_rpcs,
    count(*) FILTER (WHERE resent) AS resent_rpcs,
    count(*) FILTER (WHERE replay) AS replayed_rpcs,
    count(*) FILTER (WHERE opcode IN (8, 38)) AS connects,
    min(end_us) FILTER (WHERE opcode NOT IN (8, 38)) AS first_us,
    max(end_us) FILTER (WHERE opcode NOT IN (8, 38)) AS last_us
FROM raw.rpcs
WHERE (resent OR replay OR dropped OR opcode IN (8, 38)) AND {servers}
GROUP BY node, nid
