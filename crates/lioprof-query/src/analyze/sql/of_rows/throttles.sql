-- Requests that rules of token bucket filters let through.
SELECT
    node,
    service,
    tbf_rate,
    nid,
    job,
    count(*) AS rpcs,
    CAST(coalesce(sum(greatest(total_us, service_us) - service_us), 0) AS BIGINT) AS queue_us,
    CAST(coalesce(sum(service_us), 0) AS BIGINT) AS service_us,
    min(end_us) AS first_us,
    max(end_us) AS last_us
FROM (SELECT *, {service} AS service FROM raw.rpcs WHERE tbf_rate IS NOT NULL AND {servers}) AS requests
GROUP BY node, service, tbf_rate, nid, job
