-- One row per lock that was in the way of a request, as the server printed it: a holder, a waiter, an object.
CREATE VIEW lock_conflicts AS
SELECT
    lines.time,
    lines.fs,
    lines.node,
    lines.target,
    lines.fid,
    lines.resource,
    CASE
        WHEN lines.window_nid IS NULL OR lines.by_server OR owners.owner IS NULL OR owners.of_server THEN 'server'
        WHEN owners.owner = lines.window_nid THEN 'own'
        ELSE 'client'
    END AS kind,
    owners.owner AS holder_nid,
    lines.window_nid AS waiter_nid,
    lines.window_job AS waiter_job,
    lines.granted_mode AS holder_mode,
    lines.cookie AS holder_cookie,
    lines.window_xid AS waiter_xid,
    lines.resource_0,
    lines.resource_1,
    lines.resource_2,
    lines.resource_3,
    lines.time_us,
    lines.seq
FROM (
    SELECT *, {window_from_server} AS by_server
    FROM lock_events
    WHERE event = 'incompatible'
) AS lines
LEFT JOIN (
    -- A lock is its client's; one that a thread of the server took belongs to the client whose request made it.
    SELECT
        fs,
        node,
        cookie,
        coalesce(max(nid), max(window_nid) FILTER (WHERE event IN ('created', 'local_created'))) AS owner,
        max(nid) IS NULL AND bool_or(
            event IN ('created', 'local_created')
            AND {window_from_server}
        ) AS of_server
    FROM lock_events
    WHERE cookie IS NOT NULL
    GROUP BY fs, node, cookie
) AS owners ON owners.fs = lines.fs AND owners.node = lines.node AND owners.cookie = lines.cookie;
