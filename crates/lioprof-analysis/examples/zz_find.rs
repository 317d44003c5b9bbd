use lioprof_analysis::{Config, analyze};
fn main() {
    let mode = std::env::args().nth(1).unwrap();
    for path in std::env::args().skip(2) {
        let outcome = analyze(&[path.clone().into()], &Config { threads: 1, ..Config::default() }, None).unwrap();
        let a = outcome.analysis;
        match mode.as_str() {
            "find" => {
                println!("{path}: {:.2} s", a.window.duration_s);
                for f in &a.findings {
                    println!(
                        "    {:8} {:6} {:22} {} [{}] {}",
                        f.severity.name(),
                        f.confidence.name(),
                        f.id,
                        f.title,
                        f.cost_s.map_or(String::new(), |c| format!("{c:.2}")),
                        f.explained_by.clone().unwrap_or_default()
                    );
                }
                if std::env::var_os("CHECKS").is_some() {
                    for c in &a.checks {
                        if let Some(r) = &c.reason {
                            println!("      -- {}: {}", c.id, r);
                        }
                    }
                }
            }
            "full" => println!("{}", serde_json::to_string_pretty(&a.findings).unwrap()),
            _ => {
                let v = serde_json::to_value(&a).unwrap();
                let mut acc = v["access"].clone();
                let objs: Vec<_> = acc["objects"].as_array().unwrap().iter().take(2).cloned().collect();
                acc["objects"] = objs.into();
                println!("== {path} {:.3} s {}", a.window.duration_s, acc);
                if let Some(l) = &a.locks {
                    println!(
                        "   locks {} obj: {:?}",
                        serde_json::to_string(&l.totals).unwrap(),
                        l.objects
                            .iter()
                            .take(4)
                            .map(|o| (
                                &o.fid,
                                o.conflicts,
                                o.true_conflicts,
                                o.alternations,
                                o.mean_run,
                                o.wait_s,
                                o.ping_pong,
                                o.clients.len()
                            ))
                            .collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}
