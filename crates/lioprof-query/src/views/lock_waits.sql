-- One row per lock that had to wait, from the request until the grant.
CREATE VIEW lock_waits AS
SELECT
    CAST(locks.queued_us AS TIMESTAMP(6)) AS queued_time,
    CAST(locks.granted_us AS TIMESTAMP(6)) AS granted_time,
    locks.granted_us - locks.queued_us AS wait_us,
    locks.fs,
    locks.node,
    locks.target,
    locks.nid,
    locks.job,
    CASE WHEN locks.target LIKE '%-OST%'
        THEN lower('[0x' || to_hex(locks.resource_0) || ':0x' || to_hex(locks.resource_1) || ':0x0]') END AS fid,
    lower(
        '[0x' || to_hex(locks.resource_0) || ':0x' || to_hex(locks.resource_1) || ':0x' || to_hex(locks.resource_2) || '].0x'
        || to_hex(locks.resource_3)
    ) AS resource,
    -- Behind a lock that was called back before, no conflict is printed: then the object tells whom it waits for.
    CASE
        WHEN requests.clients > 0 THEN 'client'
        WHEN requests.others > 0 THEN 'other'
        WHEN objects.first_us <= locks.queued_us THEN 'client'
    END AS behind,
    locks.requested_mode,
    locks.requested_start,
    locks.requested_end,
    locks.cookie,
    locks.xid,
    locks.queued_us,
    locks.granted_us
FROM (
    SELECT
        fs,
        node,
        target,
        cookie,
        coalesce(max(nid), max(window_nid) FILTER (WHERE event IN ('created', 'local_created'))) AS nid,
        max(window_job) FILTER (WHERE event = 'created') AS job,
        min(time_us) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS queued_us,
        min(seq) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS queued_seq,
        max(window_nid) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS window_nid,
        max(window_xid) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS xid,
        max(resource_0) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS resource_0,
        max(resource_1) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS resource_1,
        max(resource_2) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS resource_2,
        max(resource_3) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS resource_3,
        max(requested_mode) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS requested_mode,
        max(requested_start) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS requested_start,
        max(requested_end) FILTER (WHERE event = 'queued' AND granted_mode = '--') AS requested_end,
        min(time_us) FILTER (
            WHERE event = 'granted' OR (event IN ('queued', 'reply', 'local_created') AND granted_mode <> '--')
        ) AS granted_us,
        min(seq) FILTER (
            WHERE event = 'granted' OR (event IN ('queued', 'reply', 'local_created') AND granted_mode <> '--')
        ) AS granted_seq
    FROM lock_events
    WHERE cookie IS NOT NULL
    GROUP BY fs, node, target, cookie
) AS locks
LEFT JOIN (
    SELECT
        fs,
        node,
        waiter_nid,
        waiter_xid,
        count(*) FILTER (WHERE kind = 'client') AS clients,
        count(*) FILTER (WHERE kind <> 'client') AS others
    FROM lock_conflicts
    GROUP BY fs, node, waiter_nid, waiter_xid
) AS requests
    ON requests.fs = locks.fs AND requests.node = locks.node
    AND requests.waiter_nid = locks.window_nid AND requests.waiter_xid = locks.xid
LEFT JOIN (
    SELECT fs, node, target, resource_0, resource_1, resource_2, resource_3, min(time_us) AS first_us
    FROM lock_conflicts
    WHERE kind = 'client'
    GROUP BY fs, node, target, resource_0, resource_1, resource_2, resource_3
) AS objects
    ON objects.fs = locks.fs AND objects.node = locks.node AND objects.target = locks.target
    AND objects.resource_0 = locks.resource_0 AND objects.resource_1 = locks.resource_1
    AND objects.resource_2 = locks.resource_2 AND objects.resource_3 = locks.resource_3
WHERE locks.queued_us IS NOT NULL AND (locks.granted_seq IS NULL OR locks.granted_seq > locks.queued_seq);
