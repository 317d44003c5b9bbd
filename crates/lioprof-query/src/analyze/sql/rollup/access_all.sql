-- How all objects together are.
SELECT
    named_struct(
        'rpcs', coalesce(CAST(sum(get_field(read, 'rpcs')) AS BIGINT), 0),
        'short_rpcs', coalesce(CAST(sum(get_field(read, 'short_rpcs')) AS BIGINT), 0),
        'total_us', coalesce(CAST(sum(get_field(read, 'total_us')) AS BIGINT), 0),
        'bytes', coalesce(CAST(sum(get_field(read, 'bytes')) AS BIGINT), 0),
        'extent_bytes', coalesce(CAST(sum(get_field(read, 'extent_bytes')) AS BIGINT), 0),
        'unaligned_rpcs', coalesce(CAST(sum(get_field(read, 'unaligned_rpcs')) AS BIGINT), 0),
        'split_rpcs', coalesce(CAST(sum(get_field(read, 'split_rpcs')) AS BIGINT), 0),
        'gapped_rpcs', coalesce(CAST(sum(get_field(read, 'gapped_rpcs')) AS BIGINT), 0),
        'sequential_rpcs', coalesce(CAST(sum(get_field(read, 'sequential_rpcs')) AS BIGINT), 0),
        'strided_rpcs', coalesce(CAST(sum(get_field(read, 'strided_rpcs')) AS BIGINT), 0),
        'backward_rpcs', coalesce(CAST(sum(get_field(read, 'backward_rpcs')) AS BIGINT), 0),
        'jump_rpcs', coalesce(CAST(sum(get_field(read, 'jump_rpcs')) AS BIGINT), 0)
    ) AS read,
    named_struct(
        'rpcs', coalesce(CAST(sum(get_field(write, 'rpcs')) AS BIGINT), 0),
        'short_rpcs', coalesce(CAST(sum(get_field(write, 'short_rpcs')) AS BIGINT), 0),
        'total_us', coalesce(CAST(sum(get_field(write, 'total_us')) AS BIGINT), 0),
        'bytes', coalesce(CAST(sum(get_field(write, 'bytes')) AS BIGINT), 0),
        'extent_bytes', coalesce(CAST(sum(get_field(write, 'extent_bytes')) AS BIGINT), 0),
        'unaligned_rpcs', coalesce(CAST(sum(get_field(write, 'unaligned_rpcs')) AS BIGINT), 0),
        'split_rpcs', coalesce(CAST(sum(get_field(write, 'split_rpcs')) AS BIGINT), 0),
        'gapped_rpcs', coalesce(CAST(sum(get_field(write, 'gapped_rpcs')) AS BIGINT), 0),
        'sequential_rpcs', coalesce(CAST(sum(get_field(write, 'sequential_rpcs')) AS BIGINT), 0),
        'strided_rpcs', coalesce(CAST(sum(get_field(write, 'strided_rpcs')) AS BIGINT), 0),
        'backward_rpcs', coalesce(CAST(sum(get_field(write, 'backward_rpcs')) AS BIGINT), 0),
        'jump_rpcs', coalesce(CAST(sum(get_field(write, 'jump_rpcs')) AS BIGINT), 0)
    ) AS write
FROM rollup.access_objects
