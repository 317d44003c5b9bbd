-- Times of operations at services.
SELECT opcode, service, span,
    named_struct('bucket', bucket, 'count', sum(count), 'sum_us', sum(sum_us), 'max_us', max(max_us)) AS times
FROM (
    SELECT *, {service} AS service
    FROM (
        SELECT opcode, thread, 'queue' AS span, queue_bucket AS bucket,
            count(*) AS count, sum(total_us - service_us) AS sum_us, max(total_us - service_us) AS max_us
        FROM raw.rpcs
        WHERE {servers} AND queue_bucket IS NOT NULL
        GROUP BY opcode, thread, queue_bucket
        UNION ALL
        SELECT opcode, thread, 'service' AS span, service_bucket AS bucket,
            count(*) AS count, sum(service_us) AS sum_us, max(service_us) AS max_us
        FROM raw.rpcs
        WHERE {servers} AND service_bucket IS NOT NULL
        GROUP BY opcode, thread, service_bucket
        UNION ALL
        SELECT opcode, thread, 'total' AS span, total_bucket AS bucket,
            count(*) AS count, sum(total_us) AS sum_us, max(total_us) AS max_us
        FROM raw.rpcs
        WHERE {servers} AND total_bucket IS NOT NULL
        GROUP BY opcode, thread, total_bucket
    ) AS spans
) AS services
GROUP BY opcode, service, span, bucket
