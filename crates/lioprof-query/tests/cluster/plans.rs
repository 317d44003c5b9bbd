//! What is sent to a scheduler stays small, however many files there are.

use datafusion_proto::bytes::logical_plan_to_bytes;
use lioprof_query::{Dataset, Options, Session, VIEWS};

use crate::captures::export;
use crate::rows;

/// A scheduler takes messages of 16 MiB. The largest view is far from it.
const PLENTY_BYTES: usize = 64 << 10;

#[test]
fn a_plan_does_not_grow_with_the_files() {
    let dir = tempfile::tempdir().unwrap();
    export("dk_plain", dir.path());
    let few = plan_bytes(dir.path().to_str().unwrap());
    rows::multiply(dir.path(), 1000);
    assert_eq!(plan_bytes(dir.path().to_str().unwrap()), few);
    for (view, bytes) in few {
        assert!(bytes < PLENTY_BYTES, "the plan of {view} has {bytes} bytes");
    }
}

/// Bytes of the plan that reads a view, for each view.
fn plan_bytes(dataset: &str) -> Vec<(&'static str, usize)> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(8 << 20).build().unwrap();
    runtime.block_on(async {
        let session = Session::open(Dataset::open(dataset).await.unwrap(), &Options::default()).await.unwrap();
        let mut sizes = Vec::new();
        for view in VIEWS.iter() {
            let frame = session.query(&format!("SELECT * FROM {}", view.name)).await.unwrap();
            let plan = frame.into_optimized_plan().unwrap();
            sizes.push((view.name, logical_plan_to_bytes(&plan).unwrap().len()));
        }
        sizes
    })
}
