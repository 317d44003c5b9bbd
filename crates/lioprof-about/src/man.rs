//! Manual pages of commands.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// What stands in the middle of each page's first line.
pub(crate) const MANUAL: &str = "lioprof";

/// File names and texts of the pages of a command and of all its subcommands that are not hidden. The pages have no date: they
/// change with the version that they name.
///
/// # Errors
/// None in practice: it writes to memory.
pub(crate) fn pages(command: Command, see_also: &[&str]) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut names = Vec::new();
    list(&command, &mut names);
    let mut out = Vec::new();
    for page in &names {
        out.push((format!("{}.1", name(page)), render(page, &command, see_also)?));
    }
    Ok(out)
}

/// `lioprof-analyze` of `lioprof analyze`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn list(command: &Command, into: &mut Vec<Command>) {
    into.push(command.clone());
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        list(sub, into);
    }
}

fn render(page: &Command, whole: &Command, see_also: &[&str]) -> std::io::Result<Vec<u8>> {
    let source = format!("{} {}", whole.get_name(), whole.get_version().unwrap_or_default());
    let man = Man::new(page.clone()).source(source).manual(MANUAL);
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if page.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut text)?;
    }
    let mut roff = Roff::new();
    if let Some(notes) = page.get_after_long_help().or_else(|| page.get_after_help()) {
        roff.control("SH", ["NOTES"]);
        // Examples are set in columns, so their lines must stay lines; text is filled.
        let mut filled = true;
        for line in notes.to_string().lines() {
            let fills = !line.starts_with(' ');
            if fills != filled {
                roff.control(if fills { "fi" } else { "nf" }, []);
                filled = fills;
            }
            if line.is_empty() {
                roff.control("PP", []);
            } else {
                roff.text([roman(line)]);
            }
        }
        if !filled {
            roff.control("fi", []);
        }
    }
    if page.get_version().is_some() {
        roff.control("SH", ["VERSION"]);
        roff.control("nf", []);
        let version = page.get_long_version().or_else(|| page.get_version()).unwrap_or_default();
        for line in version.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    let up = (name(page) != name(whole)).then(|| format!("{}(1)", name(whole)));
    let others: Vec<&str> = up.as_deref().into_iter().chain(see_also.iter().copied()).collect();
    if !others.is_empty() {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([roman(others.join(", "))]);
    }
    roff.to_writer(&mut text)?;
    Ok(text)
}
