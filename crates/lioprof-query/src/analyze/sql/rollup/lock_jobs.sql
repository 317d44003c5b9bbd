-- Locks of jobs, of all nodes together.
SELECT '' AS node, job,
    {job_sums}
FROM rollup.lock_jobs
GROUP BY job
