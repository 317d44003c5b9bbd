//! temp
use lioprof_analysis::{Config, Bound, analyze};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut config = Config::default();
    config.threads = std::env::var("T").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
    if let Ok(c) = std::env::var("C") { config.chunk_bytes = c.parse().unwrap(); }
    if let Ok(m) = std::env::var("M") { config.from = Some(Bound::Marker(format!("CAPTURE-START {m}"))); config.to = Some(Bound::Marker(format!("CAPTURE-STOP {m}"))); }
    let paths: Vec<_> = args.iter().map(Into::into).collect();
    let o = analyze(&paths, &config, None).unwrap();
    for p in &o.problems { eprintln!("{}", p.message); }
    println!("{}", serde_json::to_string(&o.analysis).unwrap());
}
