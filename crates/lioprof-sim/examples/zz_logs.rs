use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};
use std::io::{BufWriter, Write as _};
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let usual = Options { duration_s: 6, rate: 200, ..Options::default() };
    let runs: Vec<(&str, Options)> = vec![
        ("a", usual),
        ("b", Options { seed: 2, clients: 3, osts: 5, ..usual }),
        ("c", Options { seed: 3, clients: 8, servers: 2, osts: 6, ..usual }),
        ("d", Options { seed: 4, size: 2, ..usual }),
        ("e", Options { seed: 5, clients: 2, osts: 2, size: 2, ..usual }),
    ];
    for (name, options) in runs {
        for s in Scenario::all() {
            for server in 0..options.servers + usize::from(s.name == "metadata-bound") {
                let dir = format!("{root}/{name}/{}/server{server}", s.name);
                std::fs::create_dir_all(&dir).unwrap();
                let mut out = BufWriter::new(std::fs::File::create(format!("{dir}/rpc.txt")).unwrap());
                let mut sim = s.start(&Options { follow: Some(server), ..options });
                let mut r = SimRecord::default();
                while sim.next(&mut r) {
                    text::write_record(&mut out, &r, false).unwrap();
                }
                out.flush().unwrap();
            }
        }
    }
}
