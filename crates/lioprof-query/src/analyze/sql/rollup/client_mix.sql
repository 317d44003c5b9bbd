-- Small and large RPCs of clients, of all nodes together.
SELECT
    '' AS node, nid, target,
    named_struct(
        'small_rpcs', sum(get_field(sum, 'small_rpcs')),
        'small_us', sum(get_field(sum, 'small_us')),
        'large_rpcs', sum(get_field(sum, 'large_rpcs')),
        'large_us', sum(get_field(sum, 'large_us')),
        'turns', sum(get_field(sum, 'turns'))
    ) AS sum
FROM rollup.client_mix
GROUP BY nid, target
