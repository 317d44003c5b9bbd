use lioprof_analysis::{Config, analyze};
use lioprof_insight::{Limits, find};
fn main() {
    for path in std::env::args().skip(1) {
        let outcome = analyze(&[path.clone().into()], &Config::default(), None).unwrap();
        let mut a = outcome.analysis;
        find(&mut a, &Limits::default());
        println!("### {}", path.rsplit('/').next().unwrap());
        println!("    {}", lioprof_model::verdict(&a));
        for f in &a.findings {
            println!(
                "    {:?} {} ({:?}) {}{}",
                f.severity,
                f.id,
                f.confidence,
                f.title,
                f.explained_by.as_ref().map_or(String::new(), |by| format!(" <- {by}"))
            );
        }
        for c in a.checks.iter().filter(|c| c.result == lioprof_model::CheckResult::NotEnoughEvidence) {
            println!("    ? {}{}: {}", c.id, if c.note { " (note)" } else { "" }, c.reason.clone().unwrap_or_default());
        }
        if std::env::var("OUT").is_ok() {
            std::fs::write(
                format!("{}/{}.json", std::env::var("OUT").unwrap(), path.rsplit('/').next().unwrap()),
                serde_json::to_string(&a).unwrap(),
            )
            .unwrap();
        }
    }
}
