-- The objects with most bytes; of several with as many the first ones by name.
SELECT target, fid_seq, fid_oid, fid_ver, resource_0, resource_1
FROM raw.rpcs
WHERE opcode IN (3, 4) AND target IS NOT NULL AND (fid_seq IS NOT NULL OR resource_0 IS NOT NULL) AND {servers}
GROUP BY target, fid_seq, fid_oid, fid_ver, resource_0, resource_1
ORDER BY coalesce(sum(bytes), 0) DESC, target, fid_seq NULLS LAST, fid_oid, fid_ver, resource_0, resource_1
LIMIT {objects}
