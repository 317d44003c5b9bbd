-- Locks of jobs, of all nodes together.
SELECT '' AS node, job, sum(enqueues) AS enqueues, sum(blocked) AS blocked, sum(wait_us) AS wait_us
FROM rollup.lock_jobs
GROUP BY job
