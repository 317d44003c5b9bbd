//! Apache ECharts, as `echarts/README.md` says: packed in this crate, and unpacked here if it is what the page was tested with.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use bzip2::read::BzDecoder;
use sha2::{Digest, Sha256};

/// In the crate's folder: the packed file, and what `sha256sum` prints of it unpacked.
const PACKED: &str = "echarts/echarts.min.js.bz2";
const SUMS: &str = "echarts/SHA256SUMS";

/// The library's text, checked.
pub(crate) fn source(crate_dir: &Path) -> Vec<u8> {
    let (packed, sums) = (crate_dir.join(PACKED), crate_dir.join(SUMS));
    let file = File::open(&packed).unwrap_or_else(|err| panic!("failed to open `{}`: {err}", packed.display()));
    let mut text = Vec::new();
    BzDecoder::new(file)
        .read_to_end(&mut text)
        .unwrap_or_else(|err| panic!("failed to unpack `{}`: {err}", packed.display()));
    let expected = fs::read_to_string(&sums).unwrap_or_else(|err| panic!("failed to read `{}`: {err}", sums.display()));
    let found: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
    let matches = expected.split_whitespace().next() == Some(found.as_str());
    assert!(matches, "`{}` is not the ECharts that the page was tested with: see echarts/README.md", packed.display());
    text
}
