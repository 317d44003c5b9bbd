//! Numbers as the program writes them: a line in, `["micros", "1500"]`, a text out, `"1.5 ms"`. `scripts/check-report` holds the pages
//! against it.

use std::io::{self, BufRead, Write};

use lioprof_model::Io;
use lioprof_model::time::utc_short;
use lioprof_model::units::{self, Measure};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        // Numbers come as texts, whose last digit counts.
        let of: Vec<Option<String>> = serde_json::from_str(&line?)?;
        let [Some(form), of @ ..] = &of[..] else { return Err("no form of numbers".into()) };
        serde_json::to_writer(&mut out, &text(form, of)?)?;
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}

fn text(form: &str, of: &[Option<String>]) -> Result<String, Box<dyn std::error::Error>> {
    let number = |at: usize| of.get(at).and_then(Option::as_ref).map(|text| text.parse::<f64>()).transpose();
    let key = of[0].as_deref().unwrap_or_default();
    let value = number(0).unwrap_or_default().unwrap_or(f64::NAN);
    Ok(match form {
        "bytes" => units::human_bytes(key.parse()?),
        "byteRate" => units::byte_rate(value),
        "roundBytes" => units::short_bytes(value),
        "short" => units::short(value),
        "count" => units::thousands(key.parse()?),
        "number" => units::number(value),
        "micros" => units::duration_us(value),
        "seconds" => units::duration_us(value * 1e6),
        "percent" => units::short_percent(value),
        "changeText" => units::change(value),
        "rangeText" => units::interval(number(0)?, number(1)?),
        "date" => utc_short(units::micros((value * 1e3).round() / 1e3)),
        "ioBytes" => serde_json::from_str::<Io>(key)?.bytes_in_words(),
        "measure" => format!("{:?}", Measure::of(key)),
        other => return Err(format!("`{other}` is no form of numbers").into()),
    })
}
