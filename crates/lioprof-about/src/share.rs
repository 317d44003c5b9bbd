//! Manual pages and completions as files, laid out as below `/usr/share`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;
use clap_complete::Shell;

use crate::config_page::ConfigPage;
use crate::man;

/// The argument of the hidden command `generate`, which both commands have.
#[derive(Debug, clap::Args)]
pub struct ShareDir {
    /// Directory to write to, laid out as /usr/share: man/man1, bash-completion/completions, zsh/site-functions,
    /// fish/vendor_completions.d.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// Writes the manual pages of a command, of all its subcommands and of its configuration, and completions for bash, zsh and fish.
///
/// # Errors
/// A directory or a file cannot be written. The message names it.
pub fn write_share(command: &Command, config: Option<&ConfigPage<'_>>, share: &ShareDir) -> std::io::Result<()> {
    let source = format!("{} {}", command.get_name(), command.get_version().unwrap_or_default());
    let see_also = config.map(|config| format!("{}(5)", config.name));
    for (name, page) in man::pages(command.clone(), &see_also.as_deref().into_iter().collect::<Vec<_>>())? {
        write(&share.dir.join("man/man1").join(name), &page)?;
    }
    if let Some(config) = config {
        write(&share.dir.join(format!("man/man5/{}.5", config.name)), config.render(&source).as_bytes())?;
    }
    let name = command.get_name();
    for (shell, file) in [
        (Shell::Bash, format!("bash-completion/completions/{name}")),
        (Shell::Zsh, format!("zsh/site-functions/_{name}")),
        (Shell::Fish, format!("fish/vendor_completions.d/{name}.fish")),
    ] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command.clone(), name, &mut text);
        write(&share.dir.join(file), &text)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| std::io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::{Arg, Command};

    use super::{ShareDir, write_share};
    use crate::ConfigPage;

    fn command() -> Command {
        Command::new("tool")
            .version("1.2")
            .after_help("Examples:\n  tool  a   b")
            .subcommand(Command::new("look").about("Looks.").arg(Arg::new("far").long("far").help("Further.")))
            .subcommand(Command::new("secret").hide(true))
    }

    #[test]
    fn pages_and_completions_of_all_that_is_not_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let share = ShareDir { dir: dir.path().join("share") };
        let config = ConfigPage {
            name: "tool.toml",
            about: "a file",
            path: "/etc/tool.toml",
            sample: "# A.\na = 1\n",
            see_also: &[],
        };
        write_share(&command(), Some(&config), &share).unwrap();
        let read =
            |name: &str| fs::read_to_string(share.dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let page = read("man/man1/tool.1");
        assert!(page.contains(".TH tool 1"), "{page}");
        assert!(page.contains("Examples:\n.nf\n  tool  a   b\n.fi"), "columns stay columns: {page}");
        assert!(page.contains("tool\\-look(1)") && !page.contains("secret"), "{page}");
        let page = read("man/man1/tool-look.1");
        assert!(page.contains("\\-\\-far") && page.contains("tool(1), tool.toml(5)"), "{page}");
        assert!(read("man/man5/tool.toml.5").contains("a = 1"));
        assert!(!share.dir.join("man/man1/tool-secret.1").exists());
        for file in
            ["bash-completion/completions/tool", "zsh/site-functions/_tool", "fish/vendor_completions.d/tool.fish"]
        {
            assert!(read(file).contains("far"), "{file}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = write_share(&command(), None, &ShareDir { dir: file.clone() }).unwrap_err().to_string();
        assert!(error.contains(&*file.to_string_lossy()), "{error}");
    }
}
