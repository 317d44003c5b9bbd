-- Small and large RPCs of clients, of all nodes together.
SELECT '' AS node, nid, target, {mix_sum}
FROM rollup.client_mix
GROUP BY nid, target
