-- Operations at services: `ll_ost_io00_002` is a thread of `ll_ost_io`.
SELECT opcode, {service} AS service, sum(rpcs) AS rpcs, sum(errors) AS errors
FROM (
    SELECT opcode, thread, count(*) AS rpcs, count(*) FILTER (WHERE rc < 0 OR dropped) AS errors
    FROM raw.rpcs
    WHERE {servers}
    GROUP BY opcode, thread
) AS threads
GROUP BY opcode, {service}
