-- The objects with most bytes; of several with as many the first ones by name.
SELECT {object}
FROM raw.rpcs
WHERE {of_objects} AND {servers}
GROUP BY {object}
ORDER BY coalesce(sum(bytes), 0) DESC, target, fid_seq NULLS LAST, fid_oid, fid_ver, resource_0, resource_1
LIMIT {objects}
