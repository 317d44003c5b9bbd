-- The busiest objects. To count the clients of all objects would take a hundred times the memory; a join would sort all rows on a
-- cluster, and a hundred conditions are a plan that is too deep for it: so objects have names here.
SELECT {object},
    {read} AS read,
    {write} AS write,
    count(DISTINCT nid) AS clients,
    count(DISTINCT nid) FILTER (WHERE opcode = 4) AS writers,
    min(extent_start) AS first_byte,
    max(extent_end) AS last_byte
FROM raw.rpcs
WHERE {of_objects} AND {servers}
    AND target IN ({targets})
    AND concat(
        target,
        ' ', coalesce(CAST(fid_seq AS VARCHAR), '-'),
        ' ', coalesce(CAST(fid_oid AS VARCHAR), '-'),
        ' ', coalesce(CAST(fid_ver AS VARCHAR), '-'),
        ' ', coalesce(CAST(resource_0 AS VARCHAR), '-'),
        ' ', coalesce(CAST(resource_1 AS VARCHAR), '-')
    ) IN ({busiest})
GROUP BY {object}
