-- What clients waited for, as each server saw it.
SELECT * FROM rollup.time_rasters
