-- Locks of targets: a target is on one node.
SELECT * FROM rollup.lock_targets
