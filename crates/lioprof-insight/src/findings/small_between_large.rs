//! `small-io-between-large`: clients interrupt their large transfers with small I/O in the same objects: in a few places, like file headers,
//! or all over them.

use lioprof_model::units::{plural, two_digits};
use lioprof_model::{Confidence, Direction, ObjectAccess, ObjectId, Severity, SpentOn};
use lioprof_stats::Share;

use super::flagged::steps;
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "small-io-between-large",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Other],
    meaning: "clients interrupt their large transfers with small I/O in the same files, as HDF5 and netCDF do for their metadata",
    limits: &[
        limit("clients_share", 0.5, "share of the clients with large transfers that do so, more than"),
        limit("per_large_rpc", 0.25, "small RPCs of these clients per large one, at least"),
        limit("time_share", 0.05, "share of the small RPCs in the time of these clients' reads and writes, at least"),
        limit(
            "place_share",
            0.25,
            "part of an object in which its small RPCs lie, at most, if they are headers: data are everywhere",
        ),
    ],
    plots: &["object-offsets", "rpc-size"],
    note: false,
    look,
};

/// Bytes from the first to the last one.
fn span(first: u64, last: u64) -> f64 {
    real(last.saturating_sub(first)) + 1.0
}

fn look(case: &Case<'_>) -> Look {
    case.data_were_moved()?;
    let access = &case.analysis.access;
    let mix = &access.mix;
    Nothing::healthy_if(mix.large_clients == 0 || mix.all.small_rpcs == 0)?;
    let small = mix.targets.iter().map(|target| target.sum.small_rpcs).sum::<u64>();
    let large = mix.targets.iter().map(|target| target.sum.large_rpcs).sum::<u64>();
    let clients_share = share(real(mix.mixing_clients), real(mix.large_clients));
    let small_s = real(mix.targets.iter().map(|target| target.sum.small_us).sum()) / 1e6;
    let all_s = small_s + real(mix.targets.iter().map(|target| target.sum.large_us).sum()) / 1e6;
    Nothing::healthy_if(
        clients_share <= case.limit("clients_share") || share(small_s, all_s) < case.limit("time_share"),
    )?;
    // One of a client in an object is what is left at the end of a file, or its beginning.
    let again = |object: &ObjectAccess| object.small_rpcs > object.small_clients;
    // Sizes that change while a client goes through a file in order interrupt nothing.
    let both = |object: &&ObjectAccess| {
        let patterns = [&object.read, &object.write];
        let all: u64 = patterns.iter().map(|pattern| pattern.rpcs).sum();
        let in_order: u64 = patterns.iter().map(|pattern| pattern.sequential_rpcs + pattern.strided_rpcs).sum();
        again(object) && object.small_rpcs < all && 2 * in_order <= patterns.iter().map(|pattern| steps(pattern)).sum()
    };
    let place = |object: &ObjectAccess| {
        let small = span(object.small_first_byte?, object.small_last_byte?);
        Some(share(small, span(object.first_byte, object.last_byte)))
    };
    let is_header =
        |object: &&ObjectAccess| again(object) && place(object).is_some_and(|place| place <= case.limit("place_share"));
    let count = |objects: &[&ObjectAccess]| objects.iter().map(|object| object.small_rpcs).sum::<u64>();
    let headers: Vec<&ObjectAccess> = access.objects.iter().filter(is_header).collect();
    let in_headers = 2 * count(&headers) >= small;
    let mut objects = if in_headers { headers } else { access.objects.iter().filter(both).collect() };
    Nothing::healthy_if(2 * count(&objects) < small)?;
    Direction::ALL.into_iter().try_for_each(|direction| case.sizes_are_known(direction))?;
    let least = case.limit("per_large_rpc");
    Nothing::unless_above(Share::of(real(small), real(small + large)).against(share(least, 1.0 + least)), || {
        format!("{small} small and {large} large reads and writes are too few")
    })?;
    objects.sort_by_key(|object| std::cmp::Reverse(object.small_rpcs));
    let first = objects.iter().filter_map(|object| object.small_first_byte).min();
    let last = objects.iter().filter_map(|object| object.small_last_byte).max();
    let places = first.zip(last).map_or(0.0, |(first, last)| span(first, last));
    let explanation = if in_headers {
        "The same few places are read or written again and again: this is how file headers, indexes and attributes look. Each small \
         request is a round trip during which the client moves no data, and it waits behind the large transfers of all others."
    } else {
        "Small requests lie all over the objects that the same clients read or write in large ones: this is how records, tables and \
         chunks of attributes between data look. Each is a round trip during which the client moves no data; and a read that is not \
         next to the last one also stops the client's read-ahead."
    };
    let title = format!(
        "{} {} about {} small reads or writes for each large one, in {}",
        plural(mix.mixing_clients, "client"),
        if mix.mixing_clients == 1 { "makes" } else { "make" },
        two_digits(share(real(small), real(large))),
        plural(objects.len() as u64, "object"),
    );
    let reads: u64 = objects.iter().map(|object| object.read.rpcs).sum();
    let writes: u64 = objects.iter().map(|object| object.write.rpcs).sum();
    case
        .finding(Severity::Warning, Confidence::Medium, title)
        .explain(explanation)
        .evidence("small_rpcs", real(small))
        .evidence("large_rpcs", real(large))
        .evidence("small_per_large", share(real(small), real(large)))
        .evidence("mixing_clients", real(mix.mixing_clients))
        .evidence("clients_share", clients_share)
        .evidence("small_s", small_s)
        .evidence("small_time_share", share(small_s, all_s))
        .evidence("place_bytes", places)
        .evidence("object_reads", real(reads))
        .evidence("object_writes", real(writes))
        .remedy("Collective metadata: H5Pset_all_coll_metadata_ops and H5Pset_coll_metadata_write (HDF5 1.10 and later); one process reads and the others get it by message.")
        .remedy("Keep metadata together and in memory: H5Pset_meta_block_size, a larger metadata cache (H5Pset_mdc_config); in serial programs paged aggregation with a page buffer (H5Pset_file_space_strategy, H5Pset_page_buffer_size).")
        .remedy("Align the data to stripes so that headers have places of their own (H5Pset_alignment), or put the beginning of the file on the MDT (Data-on-MDT: `lfs setstripe -E 1M -L mdt -E -1 -c -1`).")
        .targets(mix.targets.iter().map(|target| target.target.as_str()))
        .clients(mix.clients.iter().map(|client| client.nid.as_str()))
        .objects(objects.iter().map(|object| ObjectId { target: object.target.clone(), fid: object.fid.clone() }))
        .jobs(objects.iter().flat_map(|object| &object.jobs).filter(|job| !job.is_empty()).cloned())
        .cost(small_s, Cost::RequestSeconds)
        .alone()
}
